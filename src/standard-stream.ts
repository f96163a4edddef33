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

/** Standard error for what a program tells while it runs: a line that cannot be written, as on a full disk, is lost, and the next is tried. */
export function logStream(): Writable {
  return fstatSync(2).isFile() ? new LogFile(2) : standardStream(2);
}

class LogFile extends FileOutput {
  override _write(bytes: Buffer, encoding: BufferEncoding, done: () => void): void {
    super._write(bytes, encoding, () => done());
  }
}

function opened(fd: 1 | 2): Writable {
  // Node's own stream blocks on a terminal that is held up (^S); one for reading, which is as good for writing, does not.
  if (isatty(fd)) return new ReadStream(fd);
  if (fstatSync(fd).isFile()) return new FileOutput(fd);
  return fd === 1 ? process.stdout : process.stderr;
}
