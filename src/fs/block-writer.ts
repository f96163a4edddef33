import type { FileHandle } from 'node:fs/promises';

/** Written at a time, in bytes: what comes from the network in small parts is not worth a write of its own each. */
const BLOCK_BYTES = 256 * 1024;

/** Writes a file from its beginning to its end, small parts together. */
export class BlockWriter {
  readonly #handle: FileHandle;
  #block: Buffer | null = null;
  #filled = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Takes the bytes: their memory may be used again when it resolves. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length >= BLOCK_BYTES) {
      await this.flush();
      return await this.#writeAll(bytes);
    }
    this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + BLOCK_BYTES - this.#filled);
      this.#block.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === BLOCK_BYTES) await this.flush();
    }
  }

  /** Writes what is held back. */
  async flush(): Promise<void> {
    const held = this.#block?.subarray(0, this.#filled);
    this.#filled = 0;
    if (held) await this.#writeAll(held);
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) at += (await this.#handle.write(bytes, at, bytes.length - at)).bytesWritten;
  }
}
