import { closeSync, fstatSync, openSync, readFileSync, readSync, truncateSync } from 'node:fs';
import type { Exit } from '../../protocol/index.js';
import { END_BYTES, readRecord } from './record.js';
import { Segment } from './segment.js';

/** A file of events that an earlier program left behind, as far as it is good. */
export interface LeftSegment {
  segment: Segment;
  /** What else it tells, where it was read. */
  exited: (Exit & { seq: number }) | null;
  closed_seq: number | null;
  /** When it was last written, in milliseconds since 1970. */
  written_at_ms: number;
}

/**
 * Finds out how far a file is good: by its end where it has one, else by reading it. What is torn off at its end is cut off.
 * @param whole whether it is read in any case, for what else it tells
 * @throws what the system says
 */
export function leftSegment(path: string, first_seq: number, bytes_before: number, whole: boolean): LeftSegment {
  const segment = new Segment(path, first_seq, bytes_before);
  segment.sealed = true;
  const left: LeftSegment = { segment, exited: null, closed_seq: null, written_at_ms: 0 };
  const file = openSync(path, 'r');
  try {
    const { size, mtimeMs } = fstatSync(file);
    left.written_at_ms = mtimeMs;
    const tail = Buffer.alloc(END_BYTES);
    const read = size < END_BYTES ? 0 : readSync(file, tail, 0, END_BYTES, size - END_BYTES);
    const found = read === END_BYTES && !whole ? readRecord(tail, 0) : null;
    if (found && 'end' in found.content) Object.assign(segment, found.content.end, { size });
    else scan(left, readFileSync(file));
    if (segment.size < size) truncateSync(path, segment.size);
  } finally {
    closeSync(file);
  }
  return left;
}

/** Takes the records up to the first one that is not whole, damaged, or does not follow on the one before. */
function scan(left: LeftSegment, bytes: Buffer): void {
  const { segment } = left;
  for (let found = readRecord(bytes, 0); found; found = readRecord(bytes, segment.size)) {
    const { content } = found;
    if ('end' in content) {
      segment.size = found.end;
      return;
    }
    if ('block' in content) {
      const { first_seq, marks, bytes } = content.block;
      if (first_seq !== segment.next_seq) return;
      segment.next_seq += marks.length;
      segment.output_bytes += bytes.length;
    } else {
      const { event, seq, exit_code, signal } = content.json;
      if (seq !== segment.next_seq) return;
      segment.next_seq++;
      if (event === 'exited') left.exited = { seq, exit_code: exit_code as number, signal: signal as string | null };
      else left.closed_seq = seq;
    }
    segment.size = found.end;
  }
}
