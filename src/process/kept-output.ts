import { type Gap, GatewayError, type Stream } from '../protocol/index.js';
import type { ArchivePart, EventLog } from './event-log.js';
import { bytesIn } from './transcript/block.js';

/** Consecutive events that are kept, and how many bytes of the wanted output they hold. */
interface Span {
  first_seq: number;
  /** The event after its last. */
  next_seq: number;
  bytes: number;
}

/** What is kept of the output of a process at one moment. */
export interface KeptOutput {
  /** Of one stream, or undefined of all. */
  stream: Stream | undefined;
  /** Without empty ones, oldest first. */
  spans: Span[];
  size_bytes: number;
  /** The event after the last that counts. */
  next_seq: number;
  gaps: Gap[];
}

/**
 * Looks at what is kept at this moment, in memory and on disk.
 * @param next_seq only what came before this event
 * @throws {GatewayError} `resource_exhausted` when no file can be opened now
 */
export async function keptOutput(log: EventLog, next_seq: number, stream?: Stream): Promise<KeptOutput> {
  const archived = log.archive_parts.filter(({ first_seq }) => first_seq < next_seq);
  // All of this at one moment; what is on disk can be counted later.
  const parts = archived.map((part) => ({ part, first_seq: part.first_seq, next_seq: Math.min(part.next_seq, next_seq) }));
  const held = heldSpan(log, Math.max(log.memory_seq, parts.at(-1)?.next_seq ?? 1), next_seq, stream);
  const gaps = gapsBetween(log, [...parts, held], next_seq);
  const spans: Span[] = [];
  for (const { part, ...place } of parts) spans.push({ ...place, bytes: await bytesOf(part, place.next_seq, stream) });
  spans.push(held);
  const size_bytes = spans.reduce((sum, { bytes }) => sum + bytes, 0);
  return { stream, spans: spans.filter(({ bytes }) => bytes > 0), size_bytes, next_seq, gaps };
}

/** What memory alone has. */
function heldSpan(log: EventLog, first_seq: number, next_seq: number, stream: Stream | undefined): Span {
  const span = { first_seq, next_seq: Math.max(first_seq, next_seq), bytes: 0 };
  if (first_seq >= next_seq) return span;
  if (stream === undefined)
    return { ...span, bytes: (log.bytesBefore(next_seq - 1) as number) - (log.bytesBefore(first_seq - 1) as number) };
  for (const piece of log.pieces(first_seq - 1)) if ('marks' in piece) span.bytes += bytesIn(piece, next_seq, stream);
  return span;
}

/** Told as to every other reader that passes there. */
function gapsBetween(log: EventLog, spans: { first_seq: number; next_seq: number }[], next_seq: number): Gap[] {
  const gaps: Gap[] = [];
  let after_seq = 0;
  for (const span of [...spans, { first_seq: next_seq, next_seq }]) {
    const gap = after_seq + 1 < Math.min(span.first_seq, next_seq) ? log.read(after_seq, 0).gap : null;
    if (gap) gaps.push(gap);
    after_seq = Math.max(after_seq, span.next_seq - 1);
  }
  return gaps;
}

/** What was given up at this moment is none: whoever reads on meets a gap. */
async function bytesOf(part: ArchivePart, next_seq: number, stream: Stream | undefined): Promise<number> {
  try {
    return await part.bytes(next_seq, stream);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'EMFILE' && code !== 'ENFILE') return 0;
    throw new GatewayError('resource_exhausted', 'No file can be opened to read older output: try again.', {}, { cause });
  }
}
