import { chmod, rmdir, unlink } from 'node:fs/promises';
import { GatewayError } from '../protocol/index.js';
import { Descent } from './descent.js';
import { allNames, nameBytes } from './directory-names.js';
import { errnoOf } from './file-error.js';
import type { Held } from './held-directory.js';
import { inParallel } from './in-parallel.js';
import { naming, type TreeVisitor, walkTree } from './tree-walk.js';

export interface RemoveTreeOptions {
  /** Of the directory that is never emptied, wherever it may be mounted. */
  rootIdentity: string;
  signal?: AbortSignal | undefined;
  /** Whether the tree was made by the caller, whose directories may not be written to any more. Default false. */
  ours?: boolean;
}

/**
 * Removes a directory with all it holds, downwards by descriptors: a directory that is swapped for a link meanwhile is removed
 * as the link it has become. Ends at the first failure.
 * @throws {GatewayError} `root_protected`, and what the system says
 */
export async function removeTree(parent: Held, name: Buffer, { rootIdentity, signal, ours = false }: RemoveTreeOptions): Promise<void> {
  const descent = await Descent.into(parent, name);
  try {
    await walkTree(name, true, new Removal(descent, parent, rootIdentity, ours, signal));
  } finally {
    descent.close();
  }
}

class Removal implements TreeVisitor<true> {
  constructor(
    readonly descent: Descent,
    readonly parent: Held,
    readonly rootIdentity: string,
    readonly ours: boolean,
    readonly signal: AbortSignal | undefined,
  ) {}

  /** Removes all that is no directory. */
  async visit(path: Buffer[]): Promise<string[]> {
    const { here, identity } = this.descent;
    if (identity === this.rootIdentity) throw new GatewayError('root_protected', 'The file root is in that tree, and is not removed.');
    if (this.ours) await chmod(here.path, 0o700);
    const directories: string[] = [];
    await inParallel(await allNames(here.path), async (name) => {
      this.signal?.throwIfAborted();
      const bytes = nameBytes(name);
      if (await naming([...path, bytes], () => unlinkUnlessDirectory(here.at(bytes)))) directories.push(name);
    });
    return directories;
  }

  async enter(name: Buffer): Promise<true | null> {
    try {
      await this.descent.enter(name);
      return true;
    } catch (error) {
      const errno = errnoOf(error) ?? '';
      if (['ENOTDIR', 'ELOOP'].includes(errno)) await unlinkUnlessDirectory(this.descent.here.at(name));
      else ignoreGone(error);
      return null;
    }
  }

  async leave(name: Buffer): Promise<void> {
    const above = await this.descent.leave();
    await rmdir((above ?? this.parent).at(name)).catch(ignoreGone);
  }
}

/** Whether there is a directory, which stays. What is gone already is as good as removed. */
async function unlinkUnlessDirectory(path: Buffer): Promise<boolean> {
  try {
    await unlink(path);
  } catch (error) {
    if (isDirectoryRefusal(error)) return true;
    ignoreGone(error);
  }
  return false;
}

/** What unlink(2) says of a directory: EISDIR on Linux, where EPERM is said of what may not be removed; EPERM elsewhere. */
const isDirectoryRefusal = (error: unknown): boolean => errnoOf(error) === (process.platform === 'linux' ? 'EISDIR' : 'EPERM');

function ignoreGone(error: unknown): void {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
