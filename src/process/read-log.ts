import { seqOf } from '../protocol/event-seq.js';
import { DEFAULT_READ_BYTES, MAX_READ_BYTES, type OutputEvent, type ReadQuery, type Stream } from '../protocol/index.js';
import type { Leave } from '../protocol/leave.js';
import { type EventLog, type LogRead, MAX_EVENTS } from './event-log.js';
import { OutputRead } from './output-read.js';
import { waitFor } from './wait-until.js';

/** Taken from the archive at a time, in bytes. */
const PAGE_BYTES = 512 * 1024;

/** A read, its time cut to what is allowed. */
interface LogQuery extends ReadQuery {
  after_seq: number;
  wait_ms: number;
  /** Whether nobody may wait any more. */
  stopping: () => boolean;
}

/** Reads output wherever it is, and waits while there is none: as `GET /processes/{process_id}/output` does. */
export function readLog(log: EventLog, query: LogQuery, leave?: Leave): Promise<LogRead> {
  const { after_seq, wait_ms, stream, stopping } = query;
  const max_bytes = Math.min(query.max_bytes ?? DEFAULT_READ_BYTES, MAX_READ_BYTES);
  const until = performance.now() + wait_ms;
  const look = async (place: number): Promise<LogRead> => {
    const read = new OutputRead(log, { after_seq, max_bytes, stream, stopping }, place);
    const now = await waitFor(log.waiters, read, until - performance.now(), leave);
    if (now.chunks.length > 0 || !log.archived(now.last_seq)) return now;
    const { chunks, last_seq } = await readArchive(log, now.last_seq, max_bytes, stream);
    return chunks.length > 0 || now.gap !== null ? { chunks, last_seq, gap: now.gap } : look(last_seq);
  };
  return look(after_seq);
}

/** Up to where memory begins, or something is missing. */
async function readArchive(log: EventLog, after_seq: number, max_bytes: number, stream?: Stream): Promise<Omit<LogRead, 'gap'>> {
  const chunks: OutputEvent[] = [];
  let last_seq = after_seq;
  let room = max_bytes;
  while (log.archived(last_seq)) {
    const page = await log.fetch(last_seq, Math.min(PAGE_BYTES, room));
    if (page.length === 0) break;
    for (const event of page) {
      if (event.event === 'output' && (stream === undefined || event.stream === stream)) {
        if (chunks.length === MAX_EVENTS || (chunks.length > 0 && event.chunk.length > room)) return { chunks, last_seq };
        room -= event.chunk.length;
        chunks.push(event);
      }
      last_seq = seqOf(event);
    }
  }
  return { chunks, last_seq };
}
