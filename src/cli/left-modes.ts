/** Terminal modes that a program turns on for itself, and that would disturb whoever comes after it (xterm's DECSET). */
const MODES = ['9', '1000', '1001', '1002', '1003', '1004', '1005', '1006', '1015', '2004', '2026', '47', '1047', '1049'];

/** Longest beginning of a sequence that is kept for the next chunk, in characters. */
const KEPT_CHARS = 32;

/** Follows which modes a program has turned on in the terminal, so that they can be taken back when it is left. */
export class LeftModes {
  readonly #on = new Set<string>();
  #cursor_hidden = false;
  #rest = '';

  /** Takes note of what is printed. */
  note(bytes: Uint8Array): void {
    const text = this.#rest + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    for (const sequence of text.split('\x1b[?').slice(1)) {
      const [, numbers = '', set] = /^([\d;]{1,24})([hl])/.exec(sequence) ?? [];
      for (const number of numbers.split(';')) if (set !== undefined) this.#set(number, set === 'h');
    }
    const begun = text.slice(-KEPT_CHARS).split('\x1b').at(-1) ?? '';
    this.#rest = text.slice(-KEPT_CHARS).includes('\x1b') && /^(\[(\?[\d;]*)?)?$/.test(begun) ? `\x1b${begun}` : '';
  }

  /** Whether the program paints the whole screen. */
  get full_screen(): boolean {
    return ['47', '1047', '1049'].some((mode) => this.#on.has(mode));
  }

  /** What takes back the modes that are on, colours too. */
  reset(): string {
    const modes = [...this.#on].map((mode) => `\x1b[?${mode}l`);
    if (this.#cursor_hidden) modes.push('\x1b[?25h');
    this.#on.clear();
    this.#cursor_hidden = false;
    return modes.length === 0 ? '' : `${modes.join('')}\x1b[0m`;
  }

  #set(mode: string, on: boolean): void {
    if (mode === '25') this.#cursor_hidden = !on;
    else if (MODES.includes(mode) && on) this.#on.add(mode);
    else this.#on.delete(mode);
  }
}
