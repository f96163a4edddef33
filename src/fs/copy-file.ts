import { type BigIntStats, constants } from 'node:fs';
import { copyFile, type FileHandle, open, symlink } from 'node:fs/promises';
import { systemError } from './file-error.js';
import type { Held } from './held-directory.js';
import { linkText } from './place.js';
import { isUnsized } from './read-file.js';
import type { TemporaryName } from './temporary-name.js';

/** Largest file that is copied by one call of the system, which nothing can stop: some 100 ms. */
const ONE_CALL_BYTES = 128n * 1024n * 1024n;

/** Copied at a time otherwise, in bytes. */
const BLOCK_BYTES = 1024 * 1024;

const ZEROS = Buffer.alloc(BLOCK_BYTES);

/**
 * Copies a regular file to a temporary name, mode included, set-id bits left out: they would hand out the gateway's rights
 * instead of the owner's. Shares the content where the file system can (FICLONE), keeps holes. Gives the bytes copied.
 */
export async function copyFileTo(to: TemporaryName, from: Held, stats: BigIntStats, signal?: AbortSignal): Promise<number> {
  signal?.throwIfAborted();
  const isSparse = stats.blocks * 512n < stats.size;
  const plain = (stats.mode & 0o6000n) === 0n && !isSparse && !(await isUnsized(stats, from));
  if (plain && stats.size <= ONE_CALL_BYTES) {
    await copyFile(from.path, to.path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return Number(stats.size);
  }
  if (plain && (await clone(from, to))) return Number(stats.size);
  const source = await open(from.path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const target = await to.createFile(0o600);
    try {
      const copied = await pour(source, target, isSparse, signal);
      await target.chmod(Number(stats.mode & 0o1777n));
      return copied;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Copies a link to a temporary name: its text, whatever that leads to. */
export async function copyLinkTo(to: TemporaryName, from: Buffer): Promise<void> {
  const text = await linkText(from);
  if (text === null) throw systemError('ENOENT');
  await symlink(text, to.path);
}

/** Whether the file system shares the content, whatever its size. */
async function clone(from: Held, to: TemporaryName): Promise<boolean> {
  try {
    await copyFile(from.path, to.path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    await to.dispose();
    return false;
  }
}

async function pour(source: FileHandle, target: FileHandle, skipZeros: boolean, signal: AbortSignal | undefined): Promise<number> {
  const buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, BLOCK_BYTES, at);
    if (bytesRead === 0) {
      await target.truncate(at);
      return at;
    }
    if (!skipZeros || buffer.compare(ZEROS, 0, bytesRead, 0, bytesRead) !== 0) await writeAt(target, buffer.subarray(0, bytesRead), at);
    at += bytesRead;
  }
}

async function writeAt(target: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) done += (await target.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}
