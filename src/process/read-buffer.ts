import type { OnReadOpts } from 'node:net';

/** One read of a pipe, in bytes. */
const READ_BYTES = 64 * 1024;

/** All outputs are read into this one: whoever is told of the bytes copies them at once, so no read leaves a buffer behind. */
const buffer = Buffer.allocUnsafeSlow(READ_BYTES);

/** An option that makes a socket tell what it reads without keeping it. The bytes are good until `tell` returns. */
export function readWith(tell: (bytes: Uint8Array) => void): { onread: OnReadOpts } {
  const callback = (length: number) => {
    tell(buffer.subarray(0, length));
    return true;
  };
  return { onread: { buffer, callback } };
}
