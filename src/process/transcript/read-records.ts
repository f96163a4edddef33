import type { FileHandle } from 'node:fs/promises';
import { type Content, readRecord, recordLength } from './record.js';

/** Read at once, in bytes: some records of output; a larger record is read whole. */
const PIECE_BYTES = 256 * 1024;

/** One record and where it lies. */
export interface Placed {
  content: Content;
  offset: number;
  end: number;
}

/**
 * The records of a file from `offset` to `size`, a piece of 256 KiB in memory at a time; their bytes may be kept. It ends before
 * the first one that is not whole or damaged: then the last `end` is not `size`.
 */
export async function* readRecords(file: FileHandle, offset: number, size: number): AsyncGenerator<Placed, void, undefined> {
  let at = offset;
  let least = PIECE_BYTES;
  while (at < size) {
    const bytes = await readFully(file, at, Math.min(least, size - at));
    let used = 0;
    for (let found = readRecord(bytes, 0); found; found = readRecord(bytes, used)) {
      yield { content: found.content, offset: at + used, end: at + found.end };
      used = found.end;
    }
    at += used;
    const length = recordLength(bytes, used) ?? 0;
    if (used === 0 && (length <= bytes.length || bytes.length < least)) return;
    least = Math.max(PIECE_BYTES, length);
  }
}

/** Fewer bytes than asked for at the end of the file only. */
async function readFully(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let used = 0;
  while (used < length) {
    const { bytesRead } = await file.read(bytes, used, length - used, offset + used);
    if (bytesRead === 0) break;
    used += bytesRead;
  }
  return bytes.subarray(0, used);
}
