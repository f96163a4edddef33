import { seqOf } from '../protocol/event-seq.js';
import type { OutputEvent, Stream } from '../protocol/index.js';
import { type EventLog, type LogRead, MAX_EVENTS } from './event-log.js';

/** Taken from the archive at a time, in bytes. */
const PAGE_BYTES = 512 * 1024;

/** Output of the archive, up to where memory begins, or something is missing. */
export async function readArchive(log: EventLog, after_seq: number, max_bytes: number, stream?: Stream): Promise<Omit<LogRead, 'gap'>> {
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
