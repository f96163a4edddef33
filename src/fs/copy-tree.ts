import { type BigIntStats, constants } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { type Copied, GatewayError } from '../protocol/index.js';
import { copyFileTo, copyLinkTo } from './copy-file.js';
import type { Descent } from './descent.js';
import { directoryNames, nameBytes } from './directory-names.js';
import { errnoOf } from './file-error.js';
import { Held } from './held-directory.js';
import { inParallel } from './in-parallel.js';
import type { NameLock } from './name-lock.js';
import { TemporaryName } from './temporary-name.js';
import { joinNames, naming, type TreeVisitor } from './tree-walk.js';

/** Paths of special files that a copy tells. */
const MAX_SKIPPED = 100;

/** What one directory of a copy still needs when all in it is copied. */
export interface MadeDirectory {
  /** The mode it is to have, or null for one that was there and keeps its own. */
  mode: number | null;
}

/** Copies what is in one directory to another, downwards by descriptors on both sides. Links are copied as links; files replace files. */
export class TreeCopy implements TreeVisitor<MadeDirectory> {
  readonly copied: Copied = { files: 0, directories: 0, bytes: 0, skipped: [] };
  readonly #topIdentity: string;

  constructor(
    readonly from: Descent,
    readonly to: Descent,
    readonly locks: NameLock,
    readonly signal: AbortSignal | undefined,
  ) {
    this.#topIdentity = to.identity;
  }

  async visit(path: Buffer[]): Promise<string[]> {
    // The copy may have been moved into what is copied, after that was checked.
    if (this.from.identity === this.#topIdentity)
      throw new GatewayError('copy_into_itself', 'The copy is in the directory that is copied.');
    const directories: string[] = [];
    await inParallel(await directoryNames(this.from.here.path), async (name) => {
      this.signal?.throwIfAborted();
      const bytes = nameBytes(name);
      if (await naming([...path, bytes], () => this.#copy(bytes, path))) directories.push(name);
    });
    return directories;
  }

  async enter(name: Buffer): Promise<MadeDirectory | null> {
    const entered = await this.from.enter(name).then(() => true, gone);
    if (!entered) return null;
    const made = await makeDirectory(this.to.here.at(name));
    if (made) this.copied.directories++;
    await this.to.enter(name);
    return { mode: made ? Number(this.from.stats.mode & 0o7777n) : null };
  }

  async leave(_name: Buffer, { mode }: MadeDirectory): Promise<void> {
    if (mode !== null) await chmod(this.to.here.path, mode);
    await this.from.leave();
    await this.to.leave();
  }

  /** Copies what is no directory. True for a directory. What is gone by now is left out. */
  async #copy(name: Buffer, path: Buffer[]): Promise<boolean> {
    const held = await Held.open(this.from.here.at(name), constants.O_NOFOLLOW).catch(gone);
    if (!held) return false;
    try {
      const stats = await held.stat();
      if (stats.isDirectory()) return true;
      if (stats.isFile() || stats.isSymbolicLink()) await this.#land(name, held, stats);
      else if (this.copied.skipped.length < MAX_SKIPPED) this.copied.skipped.push(joinNames([...path.slice(1), name]).toString());
      return false;
    } finally {
      held.close();
    }
  }

  async #land(name: Buffer, held: Held, stats: BigIntStats): Promise<void> {
    const { here, identity } = this.to;
    const temporary = new TemporaryName(here, name);
    try {
      let bytes = 0;
      if (stats.isFile()) bytes = await copyFileTo(temporary, held, stats, this.signal);
      else await copyLinkTo(temporary, this.from.here.at(name));
      await this.locks.hold(identity, name, () => temporary.replace());
      this.copied.files++;
      this.copied.bytes += bytes;
    } finally {
      await temporary.dispose();
    }
  }
}

/** False when there is one already. */
async function makeDirectory(path: Buffer): Promise<boolean> {
  try {
    // Its own mode may forbid to fill it: it gets that last.
    await mkdir(path, 0o700);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    return false;
  }
}

/** What is gone since its name was read is left out. */
function gone(error: unknown): null {
  if (errnoOf(error) !== 'ENOENT') throw error;
  return null;
}
