import type { ReadOutput, Stream } from '../protocol/index.js';
import type { EventLog, LogRead } from './event-log.js';
import type { Awaited } from './wait-until.js';

/** What one read asks for. */
export interface Wanted {
  after_seq: number;
  max_bytes: number;
  stream: Stream | undefined;
  /** Whether nobody may wait any more. */
  stopping: () => boolean;
}

/** One look at the output in memory: it is over when there is news after its cursor, or what comes next is on disk. */
export class OutputRead implements Awaited<LogRead> {
  readonly #log: EventLog;
  readonly #wanted: Wanted;
  #place: number;

  /** @param place where to go on, when all up to there was looked at before */
  constructor(log: EventLog, wanted: Wanted, place: number) {
    this.#log = log;
    this.#wanted = wanted;
    this.#place = place;
  }

  take(last: boolean): LogRead | null {
    const read = this.#log.read(this.#place, this.#wanted.max_bytes, this.#wanted.stream);
    if (last || this.#isNews(read) || this.#wanted.stopping()) return read;
    this.#place = read.last_seq; // of what was looked at nothing matched
    return null;
  }

  #isNews({ chunks, gap, last_seq }: LogRead): boolean {
    const { exited, closed_seq } = this.#log;
    if (chunks.length > 0 || gap !== null || this.#log.archived(last_seq)) return true;
    return closed_seq !== null || (exited !== null && exited.seq > this.#wanted.after_seq);
  }
}

/** What whoever asked is told. */
export function readAnswer({ exited, closed_seq }: EventLog, { chunks, last_seq, gap }: LogRead): ReadOutput {
  const told = exited !== null && last_seq >= exited.seq ? exited : null;
  return {
    chunks,
    next_seq: last_seq + 1,
    exited: told !== null,
    exit_code: told?.exit_code ?? null,
    signal: told?.signal ?? null,
    closed: closed_seq !== null && last_seq >= closed_seq,
    gap,
  };
}
