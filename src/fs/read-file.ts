import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { type FileContent, GatewayError, type ReadFileOptions } from '../protocol/index.js';
import { fileError } from './file-error.js';
import { etagOf, fileMetadata } from './file-metadata.js';
import type { Held } from './held-directory.js';
import type { Place } from './place.js';

/** Read at a time, in bytes: larger blocks are no faster, smaller ones cost more turns. */
const BLOCK_BYTES = 256 * 1024;

/** Read at a time where the end is not known: the files of /proc give a page or so at once. */
const UNSIZED_BLOCK_BYTES = 64 * 1024;

/** File systems whose files hold another number of bytes than they say: proc, sysfs, configfs, debugfs, tracefs, securityfs, cgroup2 (statfs(2)). */
const UNSIZED_TYPES = new Set([0x9fa0, 0x62656572, 0x62656570, 0x64626720, 0x74726163, 0x73636673, 0x63677270]);

/** Opens the regular file at a place. Nothing else is opened, not even for a moment: a fifo's writer or a device would notice. */
export async function openContent(place: Place, options: ReadFileOptions, shown: string): Promise<FileContent> {
  const { held, stats } = await place.hold();
  try {
    refuseSpecial(stats);
    const handle = await open(held.path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      return await contentOf(handle, held, options, shown);
    } catch (error) {
      await handle.close();
      throw error;
    }
  } finally {
    held.close();
  }
}

/** @throws {GatewayError} `is_a_directory`, `not_regular_file` */
export function refuseSpecial(stats: BigIntStats): void {
  if (stats.isDirectory()) throw new GatewayError('is_a_directory', 'It is a directory: list it, or read it as an archive.');
  if (!stats.isFile()) throw new GatewayError('not_regular_file', 'It is a fifo, socket or device: only regular files have content.');
}

async function contentOf(handle: FileHandle, held: Held, options: ReadFileOptions, shown: string): Promise<FileContent> {
  const stats = await handle.stat({ bigint: true });
  refuseSpecial(stats);
  const etag = etagOf(stats);
  if (options.if_match !== undefined && options.if_match !== etag) {
    throw new GatewayError('precondition_failed', `${shown} has the etag ${etag}, not ${options.if_match}. Read it anew.`, { etag });
  }
  const size = Number(stats.size);
  const offset = options.offset ?? 0;
  const unsized = await isUnsized(stats, held);
  if (!unsized && offset > 0 && offset >= size) {
    throw new GatewayError('range_not_satisfiable', `${shown} has ${size} bytes: offset is to be below.`, { size_bytes: size });
  }
  const length = unsized ? null : Math.min(options.length ?? size, size - offset);
  const bounds = { offset, length: length ?? options.length ?? Number.POSITIVE_INFINITY, exact: !unsized, reuse: options.reuse };
  const close = () => handle.close();
  return { metadata: fileMetadata(stats), length, body: closing(readBlocks(handle, bounds, shown, options.signal), close), close };
}

/** Closes what is read also when the loop is left before its first turn, which a generator does not notice. */
export function closing(blocks: AsyncGenerator<Uint8Array, void>, close: () => Promise<void>): AsyncIterable<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array, void> = {
    next: () => blocks.next(),
    return: async () => {
      const left = await blocks.return();
      await close();
      return left;
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Files of the kernel's own tables say 0 bytes, or a page, and hold what there is to tell. */
export async function isUnsized(stats: BigIntStats, held: Held): Promise<boolean> {
  if (stats.size > 0n && stats.blocks > 0n) return false;
  return process.platform === 'linux' && UNSIZED_TYPES.has((await statfs(held.path)).type);
}

interface Bounds {
  offset: number;
  length: number;
  /** Whether it is a fault when fewer bytes come. */
  exact: boolean;
  /** Whether all blocks may share one buffer. Default false. */
  reuse?: boolean | undefined;
}

/** What a file holds from `offset` on, block by block; it closes the file at its end. A file that ends before `length` has failed when it is `exact`. */
export async function* readBlocks(
  handle: FileHandle,
  { offset, length, exact, reuse = false }: Bounds,
  shown: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const block = exact ? BLOCK_BYTES : UNSIZED_BLOCK_BYTES;
  const shared = reuse ? Buffer.allocUnsafeSlow(Math.min(block, length)) : null;
  let at = offset;
  try {
    for (let left = length; left > 0; ) {
      signal?.throwIfAborted();
      const buffer = shared ?? Buffer.allocUnsafeSlow(Math.min(block, left));
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, left), at).catch((error) => {
        throw fileError(error, shown);
      });
      if (bytesRead === 0 && !exact) return;
      if (bytesRead === 0) throw new GatewayError('file_error', `${shown} became shorter while it was read, at byte ${at}. Read it anew.`);
      at += bytesRead;
      left -= bytesRead;
      // A short read must not hold on to a whole block of memory.
      yield !shared && bytesRead < buffer.length / 2 ? Buffer.from(buffer.subarray(0, bytesRead)) : buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
