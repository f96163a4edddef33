import { fstatSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';
import { FileOutput } from './file-output.js';

/**
 * Standard output (1) or standard error (2) as a stream that never makes the program wait for whoever reads it; what is not read waits in
 * the stream (`writableLength`) and is lost at the exit. Errors of it, as of a reader that left, are passed over.
 */
export function standardStream(fd: 1 | 2): Writable {
  return opened(fd).on('error', () => {});
}

function opened(fd: 1 | 2): Writable {
  // Node's own stream blocks on a terminal that is held up (^S); one for reading, which is as good for writing, does not.
  if (isatty(fd)) return new ReadStream(fd);
  if (fstatSync(fd).isFile()) return new FileOutput(fd);
  return fd === 1 ? process.stdout : process.stderr;
}
