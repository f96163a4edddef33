import { type BigIntStats, constants } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { errnoOf, systemError } from './file-error.js';
import { Held } from './held-directory.js';
import { isDot } from './path-bytes.js';

/**
 * What becomes of a symbolic link at the end of a path: `keep` acts on the link, `follow` on what it leads to,
 * `resolve` too, and gives the place where that is, for those who put something else there.
 */
export type Links = 'keep' | 'follow' | 'resolve';

/** Where a path leads: a directory that is held, and a name in it, which need not exist. The name is `.` for the directory itself. */
export class Place {
  constructor(
    readonly directory: Held,
    readonly name: Buffer,
    /** Whether the system is to follow a link at the name: only where every link is allowed. */
    readonly systemFollows = false,
    /** Whether a link at the name may be acted on. */
    readonly keepsLink = false,
    /** Whether the path ended in a slash: then nothing but a directory is meant. */
    readonly saysDirectory = false,
  ) {}

  /** For calls on the name itself: rename, unlink, mkdir, lstat. */
  get path(): Buffer {
    return this.directory.at(this.name);
  }

  /** Whether the path ended at a directory itself, and not at a name in one. */
  get isDirectoryItself(): boolean {
    return isDot(this.name);
  }

  lstat(): Promise<BigIntStats> {
    return lstat(this.path, { bigint: true });
  }

  /** What is at the name, or null when nothing is. */
  async peek(): Promise<BigIntStats | null> {
    try {
      return await this.lstat();
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  /**
   * Holds what is at the name. A link that was put there after it was looked at is not followed: ELOOP, and the path
   * is walked anew.
   */
  async hold(flags = 0): Promise<{ held: Held; stats: BigIntStats }> {
    const held = await Held.open(this.path, flags | (this.systemFollows ? 0 : constants.O_NOFOLLOW));
    try {
      const stats = await held.stat();
      this.check(stats);
      return { held, stats };
    } catch (error) {
      held.close();
      throw error;
    }
  }

  /** Refuses a link where none is acted on, and anything but a directory at a path that ends in a slash; a link is let pass there. */
  check(stats: BigIntStats): void {
    if (stats.isSymbolicLink()) {
      if (!this.keepsLink) throw systemError('ELOOP');
    } else if (this.saysDirectory && !stats.isDirectory()) {
      throw systemError('ENOTDIR');
    }
  }

  close(): void {
    this.directory.close();
  }
}

/** A link's text, or null when there is no link: something else, or nothing. */
export async function linkText(path: Buffer): Promise<Buffer | null> {
  try {
    return await readlink(path, { encoding: 'buffer' });
  } catch (error) {
    if (errnoOf(error) === 'EINVAL' || errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}
