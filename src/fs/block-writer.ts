import type { FileHandle } from 'node:fs/promises';

/** Written at a time, in bytes: what comes from the network in small parts is not worth a write of its own each. */
const BLOCK_BYTES = 512 * 1024;

/** Writes a file from its beginning to its end, small parts together; the next block is filled while one is written. */
export class BlockWriter {
  readonly #handle: FileHandle;
  #block: Buffer | null = null;
  #spare: Buffer | null = null;
  #filled = 0;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Takes the bytes: their memory may be used again when it resolves. Rejects also with what became of bytes taken before. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length >= BLOCK_BYTES) {
      await this.flush();
      return await this.#writeAll(bytes);
    }
    for (let at = 0; at < bytes.length; ) {
      this.#block ??= this.#takeSpare();
      const part = bytes.subarray(at, at + BLOCK_BYTES - this.#filled);
      this.#block.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === BLOCK_BYTES) await this.#handOver();
    }
  }

  /** Resolves when all that was taken is written. */
  async flush(): Promise<void> {
    await this.#handOver();
    await this.#writing;
  }

  /** Begins to write the block when the one before is written. */
  async #handOver(): Promise<void> {
    await this.#writing;
    const block = this.#block;
    if (block === null) return;
    this.#writing = this.#writeAll(block.subarray(0, this.#filled)).then(() => {
      this.#spare = block;
    });
    this.#writing.catch(() => undefined); // told by the next call
    this.#block = null;
    this.#filled = 0;
  }

  #takeSpare(): Buffer {
    const block = this.#spare ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#spare = null;
    return block;
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) at += (await this.#handle.write(bytes, at, bytes.length - at)).bytesWritten;
  }
}
