import { readdir } from 'node:fs/promises';

/**
 * The names in a directory, sorted by their bytes, without `.` and `..`. The bytes of each are held as the characters U+0000 to
 * U+00FF: that is cheap, loses nothing, and such strings compare as the bytes do. Names alone: what they are is looked up where
 * it is needed, so that one that is gone by then fails nothing. A million names take some 50 MB while they are looked at.
 */
export async function directoryNames(path: Buffer): Promise<string[]> {
  return (await readdir(path, { encoding: 'latin1' })).sort();
}

/** The bytes of a name of {@link directoryNames}. */
export const nameBytes = (name: string): Buffer => Buffer.from(name, 'latin1');
