import { DEFAULT_READ_BYTES, MAX_READ_BYTES, type ReadOutput, type ReadQuery, type Stream } from '../protocol/index.js';
import type { EventLog, LogRead } from './event-log.js';
import type { Awaited } from './wait-until.js';

/** One read of the output of a process: it is answered when there is news after its cursor. */
export class OutputRead implements Awaited<ReadOutput> {
  readonly #log: EventLog;
  readonly #after_seq: number;
  readonly #max_bytes: number;
  readonly #stream: Stream | undefined;
  readonly #stopping: () => boolean;
  #place: number;

  /** @param stopping whether nobody may wait any more */
  constructor(log: EventLog, { after_seq = 0, max_bytes = DEFAULT_READ_BYTES, stream }: ReadQuery, stopping: () => boolean) {
    this.#log = log;
    this.#after_seq = after_seq;
    this.#max_bytes = Math.min(max_bytes, MAX_READ_BYTES);
    this.#stream = stream;
    this.#stopping = stopping;
    this.#place = after_seq;
  }

  take(last: boolean): ReadOutput | null {
    const read = this.#log.read(this.#place, this.#max_bytes, this.#stream);
    if (last || this.#isNews(read) || this.#stopping()) return this.#answer(read);
    this.#place = read.last_seq; // of what was looked at nothing matched
    return null;
  }

  #isNews({ chunks, gap }: LogRead): boolean {
    const { exited, closed_seq } = this.#log;
    return chunks.length > 0 || gap !== null || closed_seq !== null || (exited !== null && exited.seq > this.#after_seq);
  }

  #answer({ chunks, last_seq, gap }: LogRead): ReadOutput {
    const { closed_seq } = this.#log;
    const exited = this.#log.exited !== null && last_seq >= this.#log.exited.seq ? this.#log.exited : null;
    return {
      chunks,
      next_seq: last_seq + 1,
      exited: exited !== null,
      exit_code: exited?.exit_code ?? null,
      signal: exited?.signal ?? null,
      closed: closed_seq !== null && last_seq >= closed_seq,
      gap,
    };
  }
}
