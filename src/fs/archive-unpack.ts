import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Unpacked } from '../protocol/archive.js';
import type { FileBody, FilePath, WriteArchiveOptions } from '../protocol/file-system.js';
import { tarBytes } from './archive-body.js';
import { ArchiveTarget } from './archive-target.js';
import { ArchiveWriter, archiveError } from './archive-write.js';
import { errnoOf, pathError } from './file-error.js';
import type { FileRoot } from './file-root.js';
import type { Held } from './held-directory.js';
import type { NameLock } from './name-lock.js';
import { pathBytes } from './path-bytes.js';
import { TarReader } from './tar-reader.js';

/** Unpacks a tar, as `ExecutorFileSystem` has it. Nothing is made before its first header is read: what is no tar leaves nothing behind. */
export async function writeArchive(
  root: FileRoot,
  locks: NameLock,
  path: FilePath,
  body: FileBody,
  { create_parents, any_links = false, encoding, signal }: WriteArchiveOptions = {},
): Promise<Unpacked> {
  signal?.throwIfAborted();
  const at = pathBytes(path);
  const bytes = tarBytes(body, encoding, signal);
  const tar = new TarReader(bytes);
  try {
    await tar.begin().catch((error) => {
      throw archiveError(error, null, { files: 0, directories: 0, links: 0, bytes: 0 });
    });
    const directory = await directoryAt(root, path, create_parents);
    try {
      return await unpackInto(directory, locks, tar, any_links);
    } finally {
      directory.close();
    }
  } catch (error) {
    throw pathError(error, at);
  } finally {
    // Not waited for: a body that hangs would hold the call.
    bytes.return().catch(() => undefined);
  }
}

async function unpackInto(directory: Held, locks: NameLock, tar: TarReader, any_links: boolean): Promise<Unpacked> {
  const target = await ArchiveTarget.in(directory, locks);
  try {
    return await new ArchiveWriter(target, tar, any_links).run();
  } finally {
    target.close();
  }
}

/** The directory at a path, or at what a link there leads to; it is made when it is missing. */
async function directoryAt(root: FileRoot, path: FilePath, createParents: boolean | undefined): Promise<Held> {
  return await root.at(path, { links: 'resolve', createParents, parentsBy: 'create_parents' }, async (place) => {
    await mkdir(place.path).catch((error) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
    });
    return (await place.hold(constants.O_DIRECTORY | constants.O_NOFOLLOW)).held;
  });
}
