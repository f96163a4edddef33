import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Unpacked } from '../protocol/archive.js';
import type { FileBody, FilePath, WriteArchiveOptions } from '../protocol/file-system.js';
import { tarBytes } from './archive-body.js';
import { ArchiveTarget } from './archive-target.js';
import { ArchiveWriter } from './archive-write.js';
import { errnoOf, fileError } from './file-error.js';
import type { FileRoot } from './file-root.js';
import type { Held } from './held-directory.js';
import type { NameLock } from './name-lock.js';
import { pathBytes, showPath } from './path-bytes.js';

/** Unpacks a tar, as `ExecutorFileSystem` has it. */
export async function writeArchive(
  root: FileRoot,
  locks: NameLock,
  path: FilePath,
  body: FileBody,
  { create_parents, any_links = false, encoding, signal }: WriteArchiveOptions = {},
): Promise<Unpacked> {
  signal?.throwIfAborted();
  const directory = await directoryAt(root, path, create_parents);
  const bytes = tarBytes(body, encoding, signal);
  try {
    const target = await ArchiveTarget.in(directory, locks);
    try {
      return await new ArchiveWriter(target, bytes, any_links).run();
    } finally {
      target.close();
    }
  } catch (error) {
    throw fileError(error, showPath(pathBytes(path)));
  } finally {
    directory.close();
    // Not waited for: a body that hangs would hold the call.
    bytes.return().catch(() => undefined);
  }
}

/** The directory at a path, or at what a link there leads to; it is made when it is missing. */
async function directoryAt(root: FileRoot, path: FilePath, createParents: boolean | undefined): Promise<Held> {
  return await root.at(path, { links: 'resolve', createParents }, async (place) => {
    await mkdir(place.path).catch((error) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
    });
    return (await place.hold(constants.O_DIRECTORY | constants.O_NOFOLLOW)).held;
  });
}
