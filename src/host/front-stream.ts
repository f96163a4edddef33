import type { FollowOptions } from '../protocol/exec-process.js';
import { giveBack, lentMemory } from './frame-memory.js';
import { weight } from './host-stream.js';
import { unpacked } from './packed.js';

/** Room is told to the host in steps of this size, in bytes: half of what it sends ahead. */
const STEP_BYTES = 32 * 1024;

const DONE = { done: true, value: undefined } as const;

/** A part of a stream as it came. */
interface Part {
  json: string;
  bytes: Buffer;
}

/** What a stream asks of its connection. */
interface StreamLine {
  room(bytes: number): void;
  cancel(): void;
}

/** One stream from the host, as seen by the front: batches at the reader's pace. */
export class FrontStream<Event> implements AsyncIterableIterator<Event[], undefined> {
  readonly #line: StreamLine;
  readonly #lend: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #abort = () => this.#leave();
  #parts: Part[] = [];
  #over = false;
  #error: unknown = null;
  #taken_bytes = 0;
  /** What the reader has of a batch that was lent. */
  #lent: Buffer | null = null;
  #wake: (() => void) | null = null;

  constructor(line: StreamLine, { lend = false, signal }: FollowOptions) {
    this.#line = line;
    this.#lend = lend;
    this.#signal = signal;
    if (signal?.aborted) this.#leave();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** For the connection: where a part of that size is to be put; null for anywhere. */
  memory(size: number): Buffer | null {
    return this.#lend ? lentMemory(size) : null;
  }

  /** From the connection: there is more. */
  push(part: Part): void {
    if (this.#over) return;
    this.#parts.push(part);
    this.#wake?.();
  }

  /** From the connection: it ended, or broke. */
  over(error: unknown): void {
    this.#error = error;
    this.#settle();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Event[], undefined>> {
    if (this.#lent) giveBack(this.#lent);
    this.#lent = null;
    for (;;) {
      const part = this.#parts.shift();
      if (part) return { done: false, value: this.#opened(part) };
      if (this.#error !== null) throw this.#error;
      if (this.#over) return DONE;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = null;
    }
  }

  async return(): Promise<typeof DONE> {
    this.#leave();
    return DONE;
  }

  #opened({ json, bytes }: Part): Event[] {
    const batch = unpacked(json, bytes) as Event[];
    if (this.#lend) this.#lent = bytes;
    this.#taken_bytes += weight(batch.length, bytes.length);
    if (this.#taken_bytes >= STEP_BYTES && !this.#over) {
      this.#line.room(this.#taken_bytes);
      this.#taken_bytes = 0;
    }
    return batch;
  }

  #leave(): void {
    if (!this.#over) this.#line.cancel();
    this.#parts = [];
    this.#settle();
  }

  #settle(): void {
    this.#over = true;
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#wake?.();
  }
}
