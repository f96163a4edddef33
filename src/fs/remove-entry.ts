import { rmdir, unlink } from 'node:fs/promises';
import { GatewayError, type Removed, type RemoveOptions } from '../protocol/index.js';
import { fileMetadata } from './file-metadata.js';
import type { FileRoot } from './file-root.js';
import { identityOf } from './held-directory.js';
import type { NameLock } from './name-lock.js';
import type { Place } from './place.js';
import { checkPrecondition } from './precondition.js';
import { removeTree } from './remove-tree.js';

/**
 * Removes what is at a place: a link, with or without a slash behind it, and never what it leads to.
 * @throws {GatewayError} `precondition_failed`, those of {@link refuseDirectoryItself}, and what the system says
 */
export async function removeEntry(place: Place, options: RemoveOptions, root: FileRoot, locks: NameLock): Promise<Removed> {
  await refuseDirectoryItself(place, root);
  return await locks.hold(identityOf(await place.directory.stat()), place.name, () => remove(place, options, root));
}

async function remove(place: Place, options: RemoveOptions, root: FileRoot): Promise<Removed> {
  const stats = await place.peek();
  if (!stats && options.force) return { removed: false };
  if (stats) {
    place.check(stats);
    checkPrecondition(options, fileMetadata(stats).etag);
  }
  if (!stats?.isDirectory()) await unlink(place.path);
  else if (options.recursive) {
    await removeTree(place.directory, place.name, { rootIdentity: await root.identity(), signal: options.signal });
  } else await rmdir(place.path);
  return { removed: true };
}

/** @throws {GatewayError} `root_protected`, or `invalid_path` for another path that names no entry of a directory */
export async function refuseDirectoryItself(place: Place, root: FileRoot): Promise<void> {
  if (!place.isDirectoryItself) return;
  if (await root.isRoot(place)) throw new GatewayError('root_protected', 'The file root itself is neither removed, moved nor replaced.');
  const detail = 'A path that ends in "." or ".." names no entry of a directory. Give the name of the entry.';
  throw new GatewayError('invalid_path', detail, { field: 'path' });
}
