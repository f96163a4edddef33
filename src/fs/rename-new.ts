import { link, mkdir, open, rename, rmdir, unlink } from 'node:fs/promises';
import { errnoOf } from './file-error.js';

/** What file systems without hard links say, or a system that grants them only to the owner of a file. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES']);

/**
 * Renames to a name that nothing has, and never replaces anything: EEXIST. rename(2) alone would replace a file or an empty
 * directory, and what looks first may be too late. A file gets its second name before it loses the first (link(2)); a directory,
 * or a file that can have only one, replaces an empty one that was made for it, which fails if the name is taken.
 */
export async function renameNew(from: Buffer, to: Buffer, isDirectory: boolean): Promise<void> {
  if (isDirectory)
    return await claimAndRename(
      from,
      to,
      () => mkdir(to, 0o700),
      () => rmdir(to),
    );
  try {
    await link(from, to);
  } catch (error) {
    if (!NO_LINKS.has(errnoOf(error) ?? '')) throw error;
    return await claimAndRename(
      from,
      to,
      async () => (await open(to, 'wx', 0o600)).close(),
      () => unlink(to),
    );
  }
  try {
    await unlink(from);
  } catch (error) {
    await unlink(to);
    throw error;
  }
}

async function claimAndRename(from: Buffer, to: Buffer, claim: () => Promise<void>, release: () => Promise<void>): Promise<void> {
  await claim();
  try {
    await rename(from, to);
  } catch (error) {
    await release();
    throw error;
  }
}
