import { rmdir, unlink } from 'node:fs/promises';
import { GatewayError, type Removed, type RemoveOptions } from '../protocol/index.js';
import type { FileRoot } from './file-root.js';
import type { Place } from './place.js';
import { removeTree } from './remove-tree.js';

/**
 * Removes what is at a place: a link, with or without a slash behind it, and never what it leads to.
 * @throws {GatewayError} those of {@link refuseDirectoryItself}, and what the system says
 */
export async function removeEntry(place: Place, options: RemoveOptions, root: FileRoot): Promise<Removed> {
  await refuseDirectoryItself(place, root);
  const stats = await place.peek();
  if (!stats && options.force) return { removed: false };
  if (stats) place.check(stats);
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
