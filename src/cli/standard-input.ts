import { fstatSync } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Readable } from 'node:stream';

/** Read at once at most, in bytes: what a pipe holds. */
const READ_BYTES = 64 * 1024;

/** Standard input. What its `data` events tell is good until they return: a pipe is read into the same memory again and again. */
export function standardInput(): Readable {
  return isPipe(0) ? pipedInput(0) : process.stdin;
}

function isPipe(fd: number): boolean {
  try {
    return fstatSync(fd).isFIFO();
  } catch {
    return false; // closed
  }
}

function pipedInput(fd: number): Readable {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const callback = (bytes: number) => input.emit('data', buffer.subarray(0, bytes));
  // Known to Node, but not to its types.
  const options: SocketConstructorOpts & { onread: OnReadOpts } = { fd, readable: true, writable: false, onread: { buffer, callback } };
  const input: Socket = new Socket(options);
  return input;
}
