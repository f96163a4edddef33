import type { ReadStream } from 'node:tty';
import type { TtySize } from '../protocol/start.js';

/** The terminal in front of a person: raw while a process owns it, and as it was afterwards, whatever happens. */
export class LocalTerminal {
  readonly #input: ReadStream;
  readonly #restore = () => this.restore();
  /** The shell has set its own modes while this program was stopped. */
  readonly #again = () => {
    this.#input.setRawMode(false);
    this.#input.setRawMode(true);
  };
  #raw = false;

  constructor(input: ReadStream) {
    this.#input = input;
  }

  /** Hands every key on as it is. */
  makeRaw(): void {
    this.#input.setRawMode(true);
    this.#raw = true;
    process.once('exit', this.#restore);
    process.on('SIGCONT', this.#again);
  }

  /** Puts its modes back. */
  restore(): void {
    if (!this.#raw) return;
    this.#raw = false;
    process.off('exit', this.#restore);
    process.off('SIGCONT', this.#again);
    this.#input.setRawMode(false);
  }
}

/** The terminal of this program, when both its input and its output are one. */
export function localTerminal(): LocalTerminal | null {
  return process.stdin.isTTY && process.stdout.isTTY ? new LocalTerminal(process.stdin) : null;
}

/** The size of the terminal here in character cells; null where there is none. */
export function localSize(): TtySize | null {
  const { columns: cols = 0, rows = 0 } = process.stdout;
  return cols > 0 && rows > 0 ? { cols, rows } : null;
}

/** Calls back when the size of the terminal changes, until the answer is called. */
export function onResize(callback: (size: TtySize) => void): () => void {
  const changed = () => {
    const size = localSize();
    if (size) callback(size);
  };
  process.stdout.on('resize', changed);
  return () => process.stdout.off('resize', changed);
}
