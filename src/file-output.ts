import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';

/**
 * An open file to print into, in the order of the calls, whole or with an error. Node's own stream for it takes a short write, as of a disk
 * that is full, for a whole one.
 */
export class FileOutput extends Writable {
  readonly #fd: number;

  constructor(fd: number) {
    super({ decodeStrings: true });
    this.#fd = fd;
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
      done();
    } catch (error) {
      done(error as Error);
    }
  }
}
