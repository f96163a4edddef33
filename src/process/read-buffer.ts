import { readSync } from 'node:fs';
import type { OnReadOpts } from 'node:net';

/** Most and least that is read at once, in bytes. */
const READ_BYTES = 64 * 1024;
const LEAST_READ_BYTES = 4096;

/** All outputs are read into this one: whoever is told of the bytes copies them at once, so no read leaves a buffer behind. */
const buffer = Buffer.allocUnsafeSlow(READ_BYTES);

/** How much to read at once, in bytes, where so much is retained: little enough to stop in time for readers that are behind. */
export function readBytes(retain_bytes: number): number {
  return Math.min(READ_BYTES, Math.max(LEAST_READ_BYTES, Math.floor(retain_bytes / 4)));
}

/**
 * An option that makes a socket tell what it reads without keeping it. The bytes are good until `tell` returns.
 * @param bytes most that is read at once
 */
export function readWith(bytes: number, tell: (bytes: Uint8Array) => void): { onread: OnReadOpts } {
  const callback = (length: number) => {
    tell(buffer.subarray(0, length));
    return true;
  };
  return { onread: { buffer: buffer.subarray(0, bytes), callback } };
}

/** Most that is read at once outside the event loop, in bytes: more than a terminal can hold (68 KiB, Linux). What is beyond was written meanwhile. */
const READ_NOW_BYTES = 256 * 1024;

/** Tells what a non-blocking descriptor holds at this moment, and no more than 256 KiB and one read. The bytes are good until `tell` returns. */
export function readNow(fd: number, tell: (bytes: Uint8Array) => void): void {
  for (let left = READ_NOW_BYTES; left > 0; ) {
    const length = readLength(fd);
    if (length === 0) return;
    tell(buffer.subarray(0, length));
    left -= length;
  }
}

/** 0 when there is nothing, or the other side is gone. */
function readLength(fd: number): number {
  try {
    return readSync(fd, buffer);
  } catch {
    return 0;
  }
}
