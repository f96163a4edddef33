import { seqOf } from '../protocol/event-seq.js';
import {
  DEFAULT_HOLD_MS,
  type FollowOptions,
  type FollowQuery,
  type Gap,
  type ProcessEvent,
  type Stream,
  type Subscription,
} from '../protocol/index.js';
import type { Borrower, EventLog } from './event-log.js';
import { takeTurn } from './fair-turn.js';
import type { PacedReader, Pacer } from './pacer.js';
import type { Waiter } from './waiters.js';

/**
 * Payload of one batch, in bytes: what a reader that stops reading leaves in memory. Large ones are faster, so a few readers
 * get them; all readers of a process together leave 16 MiB, or 64 KiB each where that is more.
 */
const LARGEST_BATCH_BYTES = 256 * 1024;
const SMALLEST_BATCH_BYTES = 64 * 1024;
const ALL_BATCHES_BYTES = 16 * 1024 * 1024;

const DONE = { done: true, value: undefined } as const;

/**
 * A reader at its own pace: a number in the sequence. Nothing is queued for it; the next batch is taken from the log
 * when it asks. It ends after `closed`, when it is left, or when its signal is aborted.
 */
export class FollowCursor implements Subscription<ProcessEvent>, PacedReader, Borrower, Waiter {
  readonly #log: EventLog;
  readonly #pacer: Pacer;
  readonly #stream: Stream | undefined;
  readonly gap: Gap | null;
  readonly ended: boolean;
  #after_seq: number;
  /** Whether `position` is where the reader was, and not only where it will go on. */
  #placed: boolean;
  readonly #lent: boolean;
  #batch: readonly ProcessEvent[] = [];
  #open = true;
  #answer: ((result: IteratorResult<ProcessEvent[], undefined>) => void) | null = null;
  #fail: ((error: unknown) => void) | null = null;
  position: number;
  paces = true;
  readonly hold_ms: number;

  constructor(log: EventLog, pacer: Pacer, query: FollowQuery = {}, { lend = false, signal }: FollowOptions = {}) {
    const { after_seq = 0, stream, hold_ms = DEFAULT_HOLD_MS } = query;
    this.hold_ms = hold_ms;
    this.#log = log;
    this.#pacer = pacer;
    this.#after_seq = after_seq;
    this.#stream = stream;
    this.#lent = lend;
    this.ended = log.closed_seq !== null && after_seq >= log.closed_seq;
    this.gap = log.read(after_seq, 0).gap;
    const from_seq = this.gap?.to_seq ?? after_seq;
    const position = log.bytesBefore(from_seq);
    this.#placed = this.gap === null && position !== null;
    this.position = position ?? 0;
    this.paces = !log.archived(from_seq); // the program does not wait for one that reads what is long past
    if (signal?.aborted) this.#close();
    else this.#enter();
    signal?.addEventListener('abort', () => this.#close(), { once: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<ProcessEvent[], undefined> {
    return { next: () => this.#next(), return: () => Promise.resolve(this.#close()) };
  }

  uses(first_seq: number, last_seq: number): boolean {
    const [first] = this.#batch;
    return first !== undefined && seqOf(first) <= last_seq && this.#after_seq >= first_seq;
  }

  #enter(): void {
    this.#pacer.add(this);
    if (this.#lent) this.#log.borrowers.add(this);
  }

  /** One promise a batch, whatever has to be waited for: with many readers, promises are what a batch costs. */
  #next(): Promise<IteratorResult<ProcessEvent[], undefined>> {
    this.#batch = [];
    return new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
      this.wake();
    });
  }

  /** Ends, stands in line for what there is, or waits until there is more. */
  wake(): void {
    if (!this.#open || this.#atEnd()) this.#close();
    else if (this.#after_seq < this.#log.next_seq - 1) takeTurn(this.#serve);
    else this.#log.waiters.add(this);
  }

  readonly #serve = (): void => {
    const bytes = batchBytes(this.#pacer.readers);
    if (!this.#open) this.wake();
    else if (this.#log.archived(this.#after_seq)) this.#log.fetch(this.#after_seq, bytes).then(this.#tell, this.#broken);
    else this.#tell(this.#exact(this.#log.batch(this.#after_seq, bytes, !this.#lent)));
  };

  readonly #tell = (taken: ProcessEvent[]): void => {
    const batch = this.#open ? this.#take(taken) : [];
    if (batch.length > 0) this.#answer?.({ done: false, value: batch });
    else this.wake(); // all of it was of another stream: there may be more
  };

  readonly #broken = (error: unknown): void => {
    this.#fail?.(error);
    this.#close();
  };

  #atEnd(): boolean {
    return this.#log.closed_seq !== null && this.#after_seq >= this.#log.closed_seq;
  }

  #take(batch: ProcessEvent[]): ProcessEvent[] {
    if (this.#lent) this.#batch = batch;
    for (const event of batch) {
      if (event.event === 'gap') this.#placed = false;
      else if (event.event === 'output') this.position += event.chunk.length;
      this.#after_seq = seqOf(event);
    }
    if (batch.length > 0) {
      if (!this.#placed) this.#place();
      this.#pacer.advanced(this);
    }
    const wanted = (event: ProcessEvent) => this.#stream === undefined || event.event !== 'output' || event.stream === this.#stream;
    return batch.every(wanted) ? batch : batch.filter(wanted);
  }

  #place(): void {
    const position = this.#log.bytesBefore(this.#after_seq);
    this.#placed = position !== null;
    this.position = position ?? this.position;
  }

  /** A cursor knows how many bytes it has passed, so also how many it missed, however long ago they were evicted. */
  #exact(batch: ProcessEvent[]): ProcessEvent[] {
    const [first, ...rest] = batch;
    if (
      first?.event !== 'gap' ||
      first.reason === 'lost' ||
      first.bytes !== null ||
      !this.#placed ||
      rest.some(({ event }) => event === 'gap')
    )
      return batch;
    const end = this.#log.bytesBefore(first.to_seq);
    return end === null ? batch : [{ ...first, bytes: end - this.position }, ...rest];
  }

  #close(): typeof DONE {
    this.#open = false;
    this.#pacer.delete(this);
    this.#log.borrowers.delete(this);
    this.#log.waiters.delete(this);
    this.#answer?.(DONE);
    return DONE;
  }
}

function batchBytes(readers: number): number {
  return Math.max(SMALLEST_BATCH_BYTES, Math.min(LARGEST_BATCH_BYTES, ALL_BATCHES_BYTES / readers));
}
