import { writeSync } from 'node:fs';

/** First and longest pause before a full terminal is tried again, in milliseconds. */
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

/**
 * Writes to a terminal's non-blocking descriptor, in order. A terminal takes about 4 KiB and gives no sign when there
 * is room again, so a full one is tried after 1, 2, 4 … 50 ms: quick while the program reads, next to nothing
 * (20 calls a second) while it does not.
 */
export class PtyWriter {
  readonly #fd: number;
  #queue: { bytes: Uint8Array; done: (error: Error | null) => void }[] = [];
  #timer: NodeJS.Timeout | null = null;
  #pause_ms = FIRST_PAUSE_MS;
  #open = true;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Queues bytes; calls back when the terminal has them all (null), or when it never will. */
  write(bytes: Uint8Array, done: (error: Error | null) => void): void {
    if (!this.#open) {
      done(new Error('the terminal is closed'));
      return;
    }
    this.#queue.push({ bytes, done });
    if (!this.#timer) this.#drain();
  }

  /** Gives up what is queued. The descriptor is the caller's. */
  close(): void {
    this.#open = false;
    if (this.#timer) clearTimeout(this.#timer);
    const queue = this.#queue;
    this.#queue = [];
    for (const { done } of queue) done(new Error('the terminal is closed'));
  }

  #drain(): void {
    this.#timer = null;
    for (let first = this.#queue[0]; first && this.#open; first = this.#queue[0]) {
      const written = this.#try(first.bytes);
      if (written === null) {
        this.close();
        return;
      }
      if (written < first.bytes.length) {
        first.bytes = first.bytes.subarray(written);
        this.#pause_ms = written > 0 ? FIRST_PAUSE_MS : Math.min(this.#pause_ms * 2, LONGEST_PAUSE_MS);
        this.#timer = setTimeout(() => this.#drain(), this.#pause_ms);
        return;
      }
      this.#queue.shift();
      first.done(null);
    }
  }

  /** How many bytes went in, or null when the terminal is gone. */
  #try(bytes: Uint8Array): number | null {
    try {
      return writeSync(this.#fd, bytes);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : null;
    }
  }
}
