import type { ReadOutput, Stream } from '../protocol/index.js';
import type { Leave } from '../protocol/leave.js';
import type { EventLog, LogRead } from './event-log.js';
import { readArchive } from './read-archive.js';
import { type Awaited, waitFor } from './wait-until.js';

/** What one read asks for. */
export interface Wanted {
  after_seq: number;
  max_bytes: number;
  stream: Stream | undefined;
  /** When the wait is over, as `performance.now()` counts. */
  until: number;
  /** Whether nobody may wait any more. */
  stopping: () => boolean;
  leave: Leave | undefined;
}

/** Reads output wherever it is, and waits while there is none: as `GET /processes/{process_id}/output` does. */
export function readOutput(log: EventLog, wanted: Wanted, place: number = wanted.after_seq): Promise<ReadOutput> {
  return waitFor(log.waiters, new OutputRead(log, wanted, place), Math.ceil(wanted.until - performance.now()), wanted.leave);
}

/** Looks at the output in memory: that is over when there is news after its cursor, or what comes next is on disk. */
class OutputRead implements Awaited<ReadOutput> {
  readonly #log: EventLog;
  readonly #wanted: Wanted;
  #place: number;

  /** @param place where to go on, when all up to there was looked at before */
  constructor(log: EventLog, wanted: Wanted, place: number) {
    this.#log = log;
    this.#wanted = wanted;
    this.#place = place;
  }

  take(last: boolean): ReadOutput | Promise<ReadOutput> | null {
    const read = this.#log.read(this.#place, this.#wanted.max_bytes, this.#wanted.stream);
    if (read.chunks.length === 0 && this.#log.archived(read.last_seq)) return this.#takeArchived(read);
    if (last || this.#isNews(read) || this.#wanted.stopping()) return answer(this.#log, read);
    this.#place = read.last_seq; // of what was looked at nothing matched
    return null;
  }

  #isNews({ chunks, gap }: LogRead): boolean {
    const { exited, closed_seq } = this.#log;
    return chunks.length > 0 || gap !== null || closed_seq !== null || (exited !== null && exited.seq > this.#wanted.after_seq);
  }

  async #takeArchived(read: LogRead): Promise<ReadOutput> {
    const { max_bytes, stream } = this.#wanted;
    const { chunks, last_seq } = await readArchive(this.#log, read.last_seq, max_bytes, stream);
    if (chunks.length === 0 && read.gap === null) return readOutput(this.#log, this.#wanted, last_seq);
    return answer(this.#log, { chunks, last_seq, gap: read.gap });
  }
}

function answer({ exited, closed_seq }: EventLog, { chunks, last_seq, gap }: LogRead): ReadOutput {
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
