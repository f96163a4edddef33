import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { GatewayError } from '../protocol/index.js';
import { fileError } from './file-error.js';
import { showPath } from './path-bytes.js';
import { readBlocks } from './read-file.js';
import { encodeTarEntry, LEFT_OUT, type TarEntry, tarPadding } from './tar-entry.js';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** Files up to this size are read whole ahead of their turn, in bytes. */
const SMALL_BYTES = 64 * 1024;

/** Largest file of the kernel's own tables that is taken, in bytes: they say size 0, and a tar has to know it before. */
const MAX_UNSIZED_BYTES = 1024 * 1024;

const NOTHING = Buffer.alloc(0);

/** An entry of a tar that is ready to be written: its header and its content. */
export interface ReadyEntry {
  /** To be iterated once. */
  parts: AsyncIterable<Buffer> | Iterable<Buffer>;
  /** Lets go of one whose parts are not iterated to their end. */
  close(): Promise<void>;
}

/** A file, read already when it is small. No link is followed, nothing but a regular file is read: nothing comes of anything else. */
export async function readyFile(at: Buffer, name: Buffer, signal?: AbortSignal): Promise<ReadyEntry> {
  return await readyHandle(await open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), name, signal);
}

/** The same of an open file, which it closes. */
export async function readyHandle(handle: FileHandle, name: Buffer, signal?: AbortSignal): Promise<ReadyEntry> {
  const shown = showPath(name);
  try {
    const stats = await handle.stat({ bigint: true });
    const entry: TarEntry = { ...tarFields(stats), name, type: 'file', size: Number(stats.size) };
    if (stats.isFile() && entry.size > SMALL_BYTES) return { parts: fileParts(handle, entry, shown, signal), close: () => handle.close() };
    const ready = stats.isFile() ? await smallFile(handle, entry, shown) : [];
    await handle.close();
    return readyParts(ready);
  } catch (error) {
    await handle.close();
    throw fileError(error, shown);
  }
}

/** A symbolic link. */
export async function readyLink(at: Buffer, name: Buffer): Promise<ReadyEntry> {
  const [stats, target] = await Promise.all([lstat(at, { bigint: true }), readlink(at, { encoding: 'buffer' })]);
  return readyParts([encodeTarEntry({ ...tarFields(stats), name, type: 'symlink', target })]);
}

/** The header of a directory. */
export function directoryHeader(stats: BigIntStats, name: Buffer, more: [key: string, value: Buffer][] = []): Buffer {
  return encodeTarEntry({ ...tarFields(stats), name: Buffer.concat([name, Buffer.from('/')]), type: 'directory' }, more);
}

/** Tells of something that was left out: an entry once more of the directory it is in, since no reader takes a record without one. */
export function leftOutHeader(stats: BigIntStats, directory: Buffer, code: string, path: Buffer): Buffer {
  return directoryHeader(stats, directory, [[LEFT_OUT, Buffer.from(`${code} ${path.toString()}`)]]);
}

function readyParts(parts: Buffer[]): ReadyEntry {
  return { parts, close: async () => {} };
}

async function* fileParts(handle: FileHandle, entry: TarEntry, shown: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  yield encodeTarEntry(entry);
  yield* readBlocks(handle, { offset: 0, length: entry.size, exact: true }, shown, signal) as AsyncGenerator<Buffer>;
  yield tarPadding(entry.size);
}

async function smallFile(handle: FileHandle, entry: TarEntry, shown: string): Promise<Buffer[]> {
  const content = entry.size > 0 ? await wholeContent(handle, entry.size, shown) : await unsizedContent(handle, shown);
  return [encodeTarEntry({ ...entry, size: content.length }), content, tarPadding(content.length)];
}

async function wholeContent(handle: FileHandle, size: number, shown: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of readBlocks(handle, { offset: 0, length: size, exact: true }, shown, undefined)) parts.push(part as Buffer);
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

/** Files that say that they are empty may not be: those of /proc. */
async function unsizedContent(handle: FileHandle, shown: string): Promise<Buffer> {
  const bounds = { offset: 0, length: MAX_UNSIZED_BYTES + 1, exact: false };
  const parts: Uint8Array[] = [];
  for await (const part of readBlocks(handle, bounds, shown, undefined)) parts.push(part);
  const content = parts.length === 0 ? NOTHING : Buffer.concat(parts);
  if (content.length <= MAX_UNSIZED_BYTES) return content;
  const detail = `${shown} says that it is empty, and holds more than ${MAX_UNSIZED_BYTES} bytes: read it by itself.`;
  throw new GatewayError('file_error', detail, { limit: MAX_UNSIZED_BYTES });
}

function tarFields(stats: BigIntStats): Omit<TarEntry, 'name' | 'type'> {
  const mode = Number(stats.mode & 0o7777n);
  return { mode, uid: Number(stats.uid), gid: Number(stats.gid), mtime_ns: stats.mtimeNs, size: 0, target: NOTHING };
}
