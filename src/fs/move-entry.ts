import { rename, rmdir, unlink } from 'node:fs/promises';
import { GatewayError } from '../protocol/index.js';
import type { Transfer } from './copy-entry.js';
import { Descent } from './descent.js';
import { allNames, nameBytes } from './directory-names.js';
import { errnoOf } from './file-error.js';
import { type Held, identityOf } from './held-directory.js';
import { refuseDirectoryItself } from './remove-entry.js';
import { renameNew } from './rename-new.js';
import { isWithin, refuseMismatch } from './transfer-check.js';
import { naming, type TreeVisitor, walkTree } from './tree-walk.js';

/**
 * Renames a file, link, special file or tree. Without `overwrite` nothing is replaced, not even an empty directory; with it a file
 * replaces a file, and a directory is merged into a directory, entry by entry.
 * @throws {GatewayError} `path_exists`, `is_a_directory`, `not_a_directory`, `copy_into_itself`, `cross_device`, `root_protected`,
 * `invalid_path`, and what the system says
 */
export async function moveEntry(transfer: Transfer): Promise<void> {
  const { source, destination, overwrite, root, locks, signal } = transfer;
  await refuseDirectoryItself(source, root);
  await refuseDirectoryItself(destination, root);
  const stats = await source.lstat();
  source.check(stats);
  const there = await destination.peek();
  refuseMismatch(stats, there, transfer);
  const isDirectory = stats.isDirectory();
  if (there && identityOf(there) === identityOf(stats)) return await dropSecondName(transfer, isDirectory);
  if (isDirectory && (await isWithin(destination.directory, stats))) {
    throw new GatewayError('copy_into_itself', 'The destination is in the source.');
  }
  signal?.throwIfAborted();
  const act = overwrite ? () => replace(transfer, isDirectory) : () => renameNew(source.path, destination.path, isDirectory);
  await locks.hold(identityOf(await destination.directory.stat()), destination.name, act);
}

/** Two names of one file: rename(2) would leave both. The same name twice is left as it is. */
async function dropSecondName({ source, destination }: Transfer, isDirectory: boolean): Promise<void> {
  if (isDirectory) return;
  const [from, to] = await Promise.all([source.directory.stat(), destination.directory.stat()]);
  if (identityOf(from) === identityOf(to) && source.name.equals(destination.name)) return;
  // Where case does not count, one name may be spelt in two ways.
  if ((await source.lstat()).nlink > 1n) await unlink(source.path);
  else await rename(source.path, destination.path);
}

async function replace({ source, destination, signal }: Transfer, isDirectory: boolean): Promise<void> {
  try {
    await rename(source.path, destination.path);
  } catch (error) {
    if (!isDirectory || !isFilled(error)) throw error;
    await mergeTree(source.directory, source.name, destination.directory, destination.name, signal);
  }
}

/** What rename(2) says of a directory that is not empty. */
const isFilled = (error: unknown): boolean => ['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '');

async function mergeTree(fromParent: Held, fromName: Buffer, toParent: Held, toName: Buffer, signal?: AbortSignal): Promise<void> {
  const from = await Descent.into(fromParent, fromName);
  try {
    const to = await Descent.into(toParent, toName);
    try {
      await walkTree(fromName, true, new Merge(from, to, fromParent, signal));
    } finally {
      to.close();
    }
  } finally {
    from.close();
  }
}

/** Moves what is in one directory to another, downwards by descriptors on both sides. */
class Merge implements TreeVisitor<true> {
  constructor(
    readonly from: Descent,
    readonly to: Descent,
    readonly fromParent: Held,
    readonly signal: AbortSignal | undefined,
  ) {}

  async visit(path: Buffer[]): Promise<string[]> {
    const directories: string[] = [];
    for (const name of await allNames(this.from.here.path)) {
      this.signal?.throwIfAborted();
      const bytes = nameBytes(name);
      await naming([...path, bytes], () =>
        rename(this.from.here.at(bytes), this.to.here.at(bytes)).catch((error) => {
          if (!isFilled(error)) throw error;
          directories.push(name);
        }),
      );
    }
    return directories;
  }

  async enter(name: Buffer): Promise<true> {
    await this.from.enter(name);
    await this.to.enter(name);
    return true;
  }

  async leave(name: Buffer): Promise<void> {
    await this.to.leave();
    const above = await this.from.leave();
    await rmdir((above ?? this.fromParent).at(name));
  }
}
