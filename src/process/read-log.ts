import { seqOf } from '../protocol/event-seq.js';
import type { OutputEvent, Stream } from '../protocol/index.js';
import { type EventLog, type LogRead, MAX_EVENTS } from './event-log.js';

/** Taken from the archive at a time, in bytes. */
const PAGE_BYTES = 512 * 1024;

/** What one read asks for. */
interface Wanted {
  after_seq: number;
  wait_ms: number;
  max_bytes: number;
  stream: Stream | undefined;
}

/** Resolves when `ready` is true, or after `wait_ms`. */
type Wait = (ready: () => boolean, wait_ms: number) => Promise<unknown>;

/** Reads output wherever it is, and waits while there is none: as `GET /processes/{process_id}/output` does. */
export async function readLog(log: EventLog, { after_seq, wait_ms, max_bytes, stream }: Wanted, wait: Wait): Promise<LogRead> {
  const until = performance.now() + wait_ms;
  let place = after_seq;
  for (;;) {
    let now: LogRead = { chunks: [], last_seq: place, gap: null };
    const news = () => {
      now = log.read(place, max_bytes, stream);
      if (now.chunks.length > 0 || now.gap !== null || log.archived(now.last_seq)) return true;
      place = now.last_seq; // of what was looked at nothing matched
      return log.closed_seq !== null || (log.exited !== null && log.exited.seq > after_seq);
    };
    await wait(news, until - performance.now());
    if (now.chunks.length > 0 || !log.archived(now.last_seq)) return now;
    const { chunks, last_seq } = await readArchive(log, now.last_seq, max_bytes, stream);
    if (chunks.length > 0 || now.gap !== null) return { chunks, last_seq, gap: now.gap };
    place = last_seq;
  }
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
