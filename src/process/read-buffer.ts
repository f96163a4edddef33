import { readSync } from 'node:fs';
import type { OnReadOpts } from 'node:net';
import { native } from './native.js';

/** Most and least that is read at once, in bytes. */
const READ_BYTES = 64 * 1024;
const LEAST_READ_BYTES = 4096;

/** A terminal that gave so much, in bytes, was full or nearly so. */
const LIKELY_MORE_BYTES = 2048;

/** All outputs are read into this one: whoever is told of the bytes copies them at once, so no read leaves a buffer behind. */
const buffer = Buffer.allocUnsafeSlow(READ_BYTES);

/** How much to read at once, in bytes, where so much is retained: little enough to stop in time for readers that are behind. */
export function readBytes(retain_bytes: number): number {
  return Math.min(READ_BYTES, Math.max(LEAST_READ_BYTES, Math.floor(retain_bytes / 4)));
}

/**
 * An option that makes a socket tell what it reads without keeping it. The bytes are good until `tell` returns.
 * @param bytes most that is read at once
 * @param terminal the descriptor of a terminal, which gives 4 KiB a read however much it holds: all it holds is told at once
 */
export function readWith(bytes: number, tell: (bytes: Uint8Array) => void, terminal?: number): { onread: OnReadOpts } {
  const callback = (length: number) => {
    const end = terminal !== undefined && length >= LIKELY_MORE_BYTES ? readMore(terminal, length, bytes) : length;
    tell(buffer.subarray(0, end));
    return true;
  };
  return { onread: { buffer: buffer.subarray(0, bytes), callback } };
}

/** Most that is read at once outside the event loop, in bytes: more than a terminal can hold (68 KiB, Linux). What is beyond was written meanwhile. */
const READ_NOW_BYTES = 256 * 1024;

/** Tells what a non-blocking descriptor holds at this moment, and no more than 256 KiB and one read. The bytes are good until `tell` returns. */
export function readNow(fd: number, tell: (bytes: Uint8Array) => void): void {
  for (let left = READ_NOW_BYTES; left > 0; ) {
    const length = readMore(fd, 0, READ_BYTES);
    if (length === 0) return;
    tell(buffer.subarray(0, length));
    left -= length;
  }
}

/** Reads until nothing is there, or the other side is gone; returns where the bytes in the buffer end. */
function readMore(fd: number, from: number, to: number): number {
  if (native) return native.readMore(fd, buffer, from, to);
  try {
    return from + readSync(fd, buffer, from, to - from, null);
  } catch {
    return from;
  }
}
