import { InvalidArgumentError } from 'commander';

/** Reads keys such as `ctrl-p,ctrl-q`, `ctrl-],d` or `~.`, separated by commas; an empty text is no keys. */
export function detachKeys(text: string): number[] {
  if (text === '') return [];
  return text.split(',').map((key) => {
    const [, letter] = /^ctrl-([a-z@[\\\]^_])$/i.exec(key) ?? [];
    if (letter !== undefined) return letter.toUpperCase().charCodeAt(0) & 0x1f;
    if (/^[\x20-\x7e]$/.test(key)) return key.charCodeAt(0);
    throw new InvalidArgumentError(
      'Give keys separated by commas, each a character or ctrl- and a letter, such as ctrl-p,ctrl-q; or "" for none.',
    );
  });
}

/** The keys as they are given, with blanks between them. */
export function keysText(keys: number[]): string {
  return keys.map((key) => (key < 0x20 ? `ctrl-${String.fromCharCode(key | 0x40).toLowerCase()}` : String.fromCharCode(key))).join(' ');
}

/** Finds the keys that mean to leave in what is typed; what only begins like them is held back. */
export class DetachWatch {
  readonly #keys: number[];
  #held = 0;

  constructor(keys: number[]) {
    this.#keys = keys;
  }

  /** Whether the beginning of the keys is held back. */
  get holds(): boolean {
    return this.#held > 0;
  }

  /** What of these bytes is to be sent; `detached` when the keys were among them: nothing after them counts. */
  take(bytes: Uint8Array): { send: Uint8Array; detached: boolean } {
    if (this.#keys.length === 0) return { send: bytes, detached: false };
    const send: number[] = [];
    for (const byte of bytes) {
      if (byte !== this.#keys[this.#held]) {
        send.push(...this.#keys.slice(0, this.#held));
        this.#held = 0;
      }
      if (byte === this.#keys[this.#held]) this.#held++;
      else send.push(byte);
      if (this.#held === this.#keys.length) return { send: Uint8Array.from(send), detached: true };
    }
    return { send: Uint8Array.from(send), detached: false };
  }

  /** What was held back: the rest of the keys did not follow. */
  release(): Uint8Array {
    const held = this.#keys.slice(0, this.#held);
    this.#held = 0;
    return Uint8Array.from(held);
  }
}
