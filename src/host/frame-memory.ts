/** Large enough for a batch of output, in bytes. */
const BLOCK_BYTES = 320 * 1024;

/** Smaller frames are not worth it, in bytes. */
const LEAST_BYTES = 16 * 1024;

/** Blocks that wait to be filled again, at most. */
const MOST_SPARES = 8;

const spares: Buffer[] = [];

/**
 * Memory for a frame whose reader gives it back: fresh memory costs more than what is done with it. Null for a frame that is too small or
 * too large for that.
 */
export function lentMemory(size: number): Buffer | null {
  if (size < LEAST_BYTES || size > BLOCK_BYTES) return null;
  return (spares.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)).subarray(0, size);
}

/** Nobody uses what {@link lentMemory} gave any more. */
export function giveBack({ buffer }: Buffer): void {
  if (buffer.byteLength === BLOCK_BYTES && spares.length < MOST_SPARES) spares.push(Buffer.from(buffer));
}
