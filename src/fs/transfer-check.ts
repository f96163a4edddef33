import { type BigIntStats, constants } from 'node:fs';
import { GatewayError } from '../protocol/index.js';
import { Held, identityOf } from './held-directory.js';
import type { Place } from './place.js';

const PARENT = Buffer.from('..');

/** Refuses a source and what is at its destination that do not fit: only files and links replace each other, only directories merge. */
export function refuseMismatch(
  source: BigIntStats,
  there: BigIntStats | null,
  { destination, overwrite }: { destination: Place; overwrite: boolean },
): void {
  if (there && !overwrite)
    throw new GatewayError('path_exists', 'Something is at the destination: set overwrite to replace a file or merge a directory.');
  if (!source.isDirectory() && there?.isDirectory())
    throw new GatewayError('is_a_directory', 'The destination is a directory, and the source is none: give the new path itself.');
  if (source.isDirectory() && there && !there.isDirectory())
    throw new GatewayError('not_a_directory', 'The source is a directory, and what is at the destination is none.');
  if (!source.isDirectory() && destination.saysDirectory)
    throw new GatewayError('not_a_directory', 'The destination ends in a slash, and the source is no directory.');
}

/** Whether a directory is in another, or the same, by what they are and not by their paths: through links and mounts it may have many. */
export async function isWithin(directory: Held, tree: BigIntStats): Promise<boolean> {
  let here = await Held.open(directory.path, constants.O_DIRECTORY);
  try {
    for (;;) {
      const identity = identityOf(await here.stat());
      if (identity === identityOf(tree)) return true;
      const above = await Held.open(here.at(PARENT), constants.O_DIRECTORY);
      here.close();
      here = above;
      // The root of the machine is its own parent.
      if (identityOf(await above.stat()) === identity) return false;
    }
  } finally {
    here.close();
  }
}
