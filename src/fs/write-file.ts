import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type FileBody, GatewayError, type Stored, type WriteFileOptions } from '../protocol/index.js';
import { BlockWriter } from './block-writer.js';
import { bodyParts } from './body-parts.js';
import { errnoOf, systemError } from './file-error.js';
import { etagOf, fileMetadata } from './file-metadata.js';
import { type Held, identityOf } from './held-directory.js';
import type { NameLock } from './name-lock.js';
import type { Place } from './place.js';
import { checkPrecondition } from './precondition.js';
import { TemporaryName } from './temporary-name.js';

/**
 * Puts a whole file in a place, or leaves what is there: it is written under another name beside it, and renamed. Other
 * names (hard links) of the old file keep the old content.
 * @throws {BodyFailure}
 */
export async function writeWhole(place: Place, body: FileBody, options: WriteFileOptions, locks: NameLock): Promise<Stored> {
  const before = await lookAt(place);
  checkPrecondition(options, before && etagOf(before));
  const temporary = new TemporaryName(place.directory, place.name);
  const handle = await temporary.createFile(before ? 0o600 : 0o666);
  try {
    await fill(handle, body, options.signal);
    return await putInPlace(temporary, handle, place, options, locks, before);
  } finally {
    await Promise.all([temporary.dispose(), handle.close()]);
  }
}

/** Gives a file that is written the name it is for, when the conditions hold. */
export async function putInPlace(
  temporary: TemporaryName,
  handle: FileHandle,
  place: Place,
  options: WriteFileOptions,
  locks: NameLock,
  before?: BigIntStats,
): Promise<Stored> {
  await handle.utimes(...stamp());
  await handle.sync();
  const directory = identityOf(await place.directory.stat());
  const stored = await locks.hold(directory, place.name, () => land(temporary, handle, place, before, options));
  await syncDirectory(place.directory);
  return stored;
}

/** What is there to be replaced: a regular file, or nothing. */
export async function lookAt(place: Place): Promise<BigIntStats | undefined> {
  const stats = await place.peek();
  if (stats?.isDirectory() || (!stats && place.saysDirectory)) throw systemError('EISDIR');
  if (!stats) return undefined;
  place.check(stats);
  if (!stats.isFile()) throw new GatewayError('not_regular_file', 'It is a fifo, socket or device: only regular files are replaced.');
  return stats;
}

async function land(
  temporary: TemporaryName,
  handle: FileHandle,
  place: Place,
  before: BigIntStats | undefined,
  options: WriteFileOptions,
): Promise<Stored> {
  options.signal?.throwIfAborted();
  const now = await lookAt(place).catch((error) => {
    // The path was walked once, and the body was taken: it cannot be walked anew.
    throw errnoOf(error) === 'ELOOP' ? systemError('EBUSY') : error;
  });
  checkPrecondition(options, now && etagOf(now));
  await takeAfter(handle, now ?? before, options.mode);
  if (options.if_none_match === '*') {
    await temporary.takeNew().catch((error) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
      throw new GatewayError('precondition_failed', 'if_none_match does not hold: it is there already.');
    });
  } else {
    await temporary.replace();
  }
  return { created: now === undefined, metadata: fileMetadata(await handle.stat({ bigint: true })) };
}

/** Owner and mode of the file that was there. Where the owner cannot be kept, set-id bits would hand out our own rights: they go. */
async function takeAfter(handle: FileHandle, old: BigIntStats | undefined, mode: number | undefined): Promise<void> {
  const ours = old && (await handle.stat({ bigint: true }));
  let kept = true;
  if (old && ours && (old.uid !== ours.uid || old.gid !== ours.gid)) {
    kept = await handle.chown(Number(old.uid), Number(old.gid)).then(
      () => true,
      () => false,
    );
  }
  if (mode !== undefined) await handle.chmod(mode);
  else if (old) await handle.chmod(Number(old.mode & (kept ? 0o7777n : 0o1777n)));
}

async function fill(handle: FileHandle, body: FileBody, signal: AbortSignal | undefined): Promise<void> {
  const writer = new BlockWriter(handle);
  if (body instanceof Uint8Array) {
    await writer.write(body);
    return await writer.flush();
  }
  for await (const part of bodyParts(body, signal)) await writer.write(part);
  await writer.flush();
}

let lastStamp = 0;

/**
 * The time now, in seconds, for access and change; later by a microsecond at least than every one before. The system's own stamps
 * may be 10 ms apart, and numbers of files are used again: the third of three quick writes could get the etag of the first.
 */
function stamp(): [atime: number, mtime: number] {
  lastStamp = Math.max(Date.now() * 1000, lastStamp + 1);
  return [lastStamp / 1e6, lastStamp / 1e6];
}

/** Makes the new name last through a loss of power, where the file system and our rights allow it. */
async function syncDirectory(directory: Held): Promise<void> {
  try {
    const handle = await open(directory.path, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!['EACCES', 'EINVAL', 'ENOTSUP', 'EBADF', 'EISDIR', 'EPERM'].includes(errnoOf(error) ?? '')) throw error;
  }
}
