import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type FileBody, GatewayError } from '../protocol/index.js';
import { bodyParts } from './body-parts.js';
import { errnoOf, systemError } from './file-error.js';
import type { TemporaryName } from './temporary-name.js';

/** A file that is not whole yet. Its size says how much of it is here; when it could not take its place, the last byte does not count. */
export class PartialFile {
  private constructor(
    readonly handle: FileHandle,
    /** Bytes that are here. */
    readonly offset: number,
    /** When the last one came, in milliseconds. */
    readonly touched: number,
  ) {}

  /**
   * @param size_bytes what it will have
   * @throws ENOENT when nothing, or something else, is there
   */
  static async open(temporary: TemporaryName, size_bytes: number): Promise<PartialFile> {
    const handle = await open(temporary.path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) => {
      throw ['ELOOP', 'EISDIR', 'ENXIO'].includes(errnoOf(error) ?? '') ? systemError('ENOENT') : error;
    });
    try {
      const stats = await handle.stat();
      if (!stats.isFile() || stats.size > size_bytes) throw systemError('ENOENT');
      return new PartialFile(handle, Math.min(stats.size, Math.max(0, size_bytes - 1)), stats.mtimeMs);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Adds a body behind what is here; what has arrived of one that fails is kept.
   * @returns how much is here then
   * @throws {BodyFailure}
   */
  async append(body: FileBody, size_bytes: number, signal: AbortSignal): Promise<number> {
    let at = this.offset;
    try {
      for await (const part of bodyParts(body, signal)) {
        if (at + part.length > size_bytes) throw await this.#tooLong(size_bytes);
        at = await this.#write(part, at);
      }
      return at;
    } finally {
      await this.handle.datasync(); // what is told as here stays through a loss of power
    }
  }

  async #tooLong(size_bytes: number): Promise<GatewayError> {
    await this.handle.truncate(this.offset);
    const detail = `The part goes beyond the ${size_bytes} bytes that the upload was to have: nothing of it is kept.`;
    return new GatewayError('payload_too_large', detail, { limit: size_bytes });
  }

  async #write(bytes: Uint8Array, from: number): Promise<number> {
    let at = from;
    while (at < from + bytes.length) at += (await this.handle.write(bytes, at - from, undefined, at)).bytesWritten;
    return at;
  }
}
