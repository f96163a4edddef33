import { constants } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import type { CreateDirectoryOptions, Stored } from '../protocol/index.js';
import { errnoOf } from './file-error.js';
import { fileMetadata } from './file-metadata.js';
import type { Place } from './place.js';

/** Makes a directory; one that is there is as good when `recursive` is given. */
export async function createDirectory(place: Place, { recursive, mode }: CreateDirectoryOptions): Promise<Stored> {
  let created = true;
  try {
    await mkdir(place.path, mode ?? 0o777);
  } catch (error) {
    if (!recursive || errnoOf(error) !== 'EEXIST') throw error;
    if (!(await place.lstat()).isDirectory()) throw error;
    created = false;
  }
  const { held } = await place.hold(constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    // The umask has taken its part of the mode.
    if (created && mode !== undefined) await chmod(held.path, mode);
    return { created, metadata: fileMetadata(await held.stat()) };
  } finally {
    held.close();
  }
}
