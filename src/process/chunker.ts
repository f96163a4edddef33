import { utf8Tail } from './utf8-tail.js';

/** How long an unfinished character is held back before it is told as it is, in milliseconds. */
const HOLD_MS = 50;

/**
 * Cuts what one stream yields into chunks of at most `max_bytes` that do not end inside a UTF-8 character. An
 * unfinished character is held back until it is finished, the stream ends, or 50 ms have passed. No byte is changed.
 */
export class Chunker {
  readonly #max_bytes: number;
  readonly #emit: (chunk: Uint8Array) => void;
  #held: Uint8Array | null = null;
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(max_bytes: number, emit: (chunk: Uint8Array) => void) {
    this.#max_bytes = max_bytes;
    this.#emit = emit;
  }

  /** Takes the next bytes, which it does not keep. */
  push(bytes: Uint8Array): void {
    let rest = bytes;
    if (this.#held) {
      rest = Buffer.concat([this.#held, bytes]);
      this.#release();
    }
    while (rest.length > this.#max_bytes) {
      const head = rest.subarray(0, this.#max_bytes);
      const tail = utf8Tail(head);
      const cut = tail < head.length ? head.length - tail : head.length;
      this.#emit(rest.subarray(0, cut));
      rest = rest.subarray(cut);
    }
    const tail = utf8Tail(rest);
    if (tail < rest.length) this.#emit(tail === 0 ? rest : rest.subarray(0, rest.length - tail));
    if (tail > 0) this.#hold(rest.subarray(rest.length - tail));
  }

  /** Tells what is held back, as at the end of the stream. */
  flush(): void {
    const held = this.#held;
    if (!held) return;
    this.#release();
    this.#emit(held);
  }

  #hold(tail: Uint8Array): void {
    this.#held = Uint8Array.from(tail);
    // The rest may have come while the program was busy: what is there is read before the end of the turn.
    this.#timer = setTimeout(() => {
      this.#turn = setImmediate(() => this.flush());
    }, HOLD_MS);
  }

  #release(): void {
    this.#held = null;
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
  }
}
