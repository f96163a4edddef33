import { utf8Tail } from './utf8-tail.js';

const ESC = 0x1b;
const BEL = 0x07;
const [CAN, SUB] = [0x18, 0x1a];
/** What follows ESC where a string begins: P (DCS), X (SOS), ] (OSC), ^ (PM), _ (APC). */
const STRINGS = new Set([...'PX]^_'].map((letter) => letter.charCodeAt(0)));

/** Longest unfinished sequence that is remembered whole, in bytes. */
const LONGEST = 4_096;

type State = 'text' | 'escape' | 'control' | 'string';

/**
 * Remembers what a stream of terminal output leaves unfinished at its end: an escape sequence (ECMA-48 §5), or a UTF-8
 * character. Whoever goes on from there needs these bytes first.
 */
export class UnfinishedSequence {
  #state: State = 'text';
  #bytes = Buffer.alloc(0);

  /** The bytes that are to come before the next ones. Of a very long sequence only the beginning, which means the same. */
  get bytes(): Uint8Array {
    return this.#bytes.length > LONGEST ? this.#bytes.subarray(0, 2) : this.#bytes;
  }

  push(bytes: Uint8Array): void {
    let begin = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (this.#state === 'text') {
        at = bytes.indexOf(ESC, at);
        if (at < 0) break;
      }
      if (bytes[at] !== ESC) {
        this.#state = next(this.#state, bytes[at] as number);
        continue;
      }
      begin = at;
      this.#bytes = Buffer.alloc(0);
      this.#state = 'escape';
    }
    this.#keep(bytes, begin);
  }

  #keep(bytes: Uint8Array, begin: number): void {
    if (this.#state !== 'text') {
      if (this.#bytes.length <= LONGEST) this.#bytes = Buffer.concat([this.#bytes, bytes.subarray(begin, begin + LONGEST + 1)]);
      return;
    }
    // A character that was begun before may go on, by three bytes at most.
    const held = this.#bytes.length <= 3 && this.#bytes[0] !== ESC ? this.#bytes : Buffer.alloc(0);
    const end = Buffer.concat([bytes.length > 3 ? Buffer.alloc(0) : held, bytes.subarray(Math.max(0, bytes.length - 3))]);
    this.#bytes = end.subarray(end.length - utf8Tail(end));
  }
}

function next(state: State, byte: number): State {
  if (byte === CAN || byte === SUB) return 'text';
  if (state === 'string') return byte === BEL ? 'text' : 'string';
  if (byte < 0x20) return state; // control characters are obeyed inside of a sequence
  if (state === 'control') return byte >= 0x40 && byte <= 0x7e ? 'text' : 'control';
  if (byte === 0x5b) return 'control';
  if (STRINGS.has(byte)) return 'string';
  return byte <= 0x2f ? 'escape' : 'text';
}
