import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Read at a time, in bytes. */
const BLOCK_BYTES = 256 * 1024;

/** A file without a name that keeps what is written in any order until it is taken whole. */
export class Spool {
  readonly #file: FileHandle;
  /** Up to where something was asked to be written, in bytes. */
  size = 0;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(): Promise<Spool> {
    const directory = await mkdtemp(join(tmpdir(), 'exec-gateway-'));
    try {
      return new Spool(await open(join(directory, 'spool'), 'wx+', 0o600));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Writes after what was asked for before. */
  async write(offset: number, bytes: Buffer): Promise<void> {
    this.size = Math.max(this.size, offset + bytes.length);
    const before = this.#last;
    const written = (async () => {
      await before;
      for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at, bytes.length - at, offset + at)).bytesWritten;
    })();
    this.#last = written.catch(() => {});
    await written;
  }

  /** All that was written, from the beginning. */
  async *content(): AsyncGenerator<Uint8Array, void> {
    await this.#last;
    for (let at = 0; at < this.size; ) {
      const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, this.size - at)), 0, undefined, at);
      if (bytesRead === 0) throw new Error('The spool is shorter than what was written to it.');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close().catch(() => {});
  }
}
