import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { isTemporary } from './temporary-name.js';

/**
 * The names in a directory, sorted by their bytes, without `.` and `..`, and without what is not whole yet. The bytes of each are
 * held as the characters U+0000 to U+00FF: that is cheap, loses nothing, and such strings compare as the bytes do. Names alone: what
 * they are is looked up where it is needed, so that one that is gone by then fails nothing. A million names take some 50 MB while
 * they are looked at.
 */
export async function directoryNames(path: Buffer): Promise<string[]> {
  return (await allNames(path)).filter((name) => !isTemporary(name));
}

/** The same with what is not whole yet: for what empties a directory. */
export async function allNames(path: Buffer): Promise<string[]> {
  return (await readdir(path, { encoding: 'latin1' })).sort();
}

/** The entries of a directory, in no order, without what is not whole yet. */
export async function directoryEntries(path: Buffer): Promise<Dirent<Buffer>[]> {
  return wholeEntries(await readdir(path, { encoding: 'buffer', withFileTypes: true }));
}

/** Leaves out what is not whole yet. */
export const wholeEntries = (entries: Dirent<Buffer>[]): Dirent<Buffer>[] =>
  entries.filter(({ name }) => !isTemporary(name.toString('latin1')));

/** The bytes of a name of {@link directoryNames}. */
export const nameBytes = (name: string): Buffer => Buffer.from(name, 'latin1');
