import { chmod, link, lstat, lutimes, mkdir, symlink, unlink, utimes } from 'node:fs/promises';
import type { Unpacked } from '../protocol/archive.js';
import { GatewayError } from '../protocol/error.js';
import { unsafe } from './archive-names.js';
import { Descent } from './descent.js';
import { errnoOf, systemError } from './file-error.js';
import { Held } from './held-directory.js';
import type { NameLock } from './name-lock.js';
import { showPath } from './path-bytes.js';
import { linkText } from './place.js';
import type { TarEntry } from './tar-entry.js';
import { TemporaryName } from './temporary-name.js';
import { joinNames, naming } from './tree-walk.js';

/** Paths of the directories that are made are kept to the end, in bytes together: a tar must not fill memory with them. */
const MAX_KEPT_PATH_BYTES = 64 * 1024 * 1024;

const DOT = Buffer.from('.');

/** What a directory that was made gets when all is in it. */
interface Made {
  names: Buffer[];
  entry: TarEntry | null;
}

/**
 * The directory a tar is unpacked into. Every way in it goes from descriptor to descriptor, and through no link: whatever is
 * renamed or replaced meanwhile, nothing outside is touched.
 */
export class ArchiveTarget {
  readonly unpacked: Unpacked = { files: 0, directories: 0, links: 0, bytes: 0 };
  readonly #descent: Descent;
  readonly #locks: NameLock;
  /** The names that lead from the directory to where the descent is. */
  #here: Buffer[] = [];
  readonly #made = new Map<string, Made>();
  #kept_bytes = 0;

  private constructor(descent: Descent, locks: NameLock) {
    this.#descent = descent;
    this.#locks = locks;
  }

  static async in(directory: Held, locks: NameLock): Promise<ArchiveTarget> {
    return new ArchiveTarget(await Descent.into(directory, DOT), locks);
  }

  close(): void {
    this.#descent.close();
  }

  /** Whether it is in that directory already: then nothing has to be done before for what is under way in it. */
  isIn(names: Buffer[]): boolean {
    return names.length === this.#here.length && names.every((name, at) => this.#here[at]?.equals(name));
  }

  /** Goes to a directory. @param make whether what is missing on the way is made; else ENOENT */
  async go(names: Buffer[], make: boolean): Promise<void> {
    let common = 0;
    while (common < names.length && this.#here[common]?.equals(names[common] as Buffer)) common++;
    while (this.#here.length > common) {
      await this.#descent.leave();
      this.#here.pop();
    }
    for (const name of names.slice(common)) {
      await this.#enter(name, make);
      this.#here.push(name);
    }
  }

  /** A directory of the tar, which it has gone to: it gets its mode and time at the end, when it was made here. */
  describe(entry: TarEntry): void {
    const made = this.#made.get(keyOf(this.#here));
    if (made) made.entry = entry;
  }

  /** A name in the directory it is in, for what is to land there. */
  temporary(name: Buffer): TemporaryName {
    return new TemporaryName(this.#descent.here, name);
  }

  /** Puts what has a temporary name in its place. */
  async land(temporary: TemporaryName): Promise<void> {
    await this.#locks.hold(this.#descent.identity, temporary.target, () => temporary.replace());
  }

  async symlink(name: Buffer, { target, mtime_ns }: TarEntry): Promise<void> {
    const temporary = this.temporary(name);
    try {
      await symlink(target, temporary.path);
      await lutimes(temporary.path, seconds(mtime_ns), seconds(mtime_ns));
      await this.land(temporary);
      this.unpacked.links++;
    } finally {
      await temporary.dispose();
    }
  }

  /** Another name of a file in the tree. */
  async hardLink(names: Buffer[], target: Buffer[]): Promise<void> {
    await this.go(target.slice(0, -1), false);
    const above = await Held.open(this.#descent.here.path);
    try {
      await this.go(names.slice(0, -1), true);
      const temporary = this.temporary(names.at(-1) as Buffer);
      try {
        await link(above.at(target.at(-1) as Buffer), temporary.path);
        // A link to a link would lead somewhere else from here.
        if (!(await lstat(temporary.path)).isFile())
          throw unsafe(`${showPath(joinNames(names))} is a hard link to something that is no file`);
        await this.land(temporary);
        this.unpacked.files++;
      } finally {
        // Where both are one file already, the rename does nothing (rename(2)).
        await unlink(temporary.path).catch(() => undefined);
      }
    } finally {
      above.close();
    }
  }

  /** Gives the directories that were made their modes and times, the deepest first. */
  async finish(): Promise<void> {
    const made = [...this.#made.values()].filter(({ entry }) => entry !== null);
    this.#made.clear();
    for (const { names, entry } of made.reverse()) if (entry) await naming(names, () => this.#complete(names, entry));
  }

  async #complete(names: Buffer[], { mtime_ns, mode }: TarEntry): Promise<void> {
    await this.go(names, false);
    const { path } = this.#descent.here;
    await utimes(path, seconds(mtime_ns), seconds(mtime_ns));
    await chmod(path, mode & 0o1777);
  }

  async #enter(name: Buffer, make: boolean): Promise<void> {
    try {
      return await this.#descent.enter(name);
    } catch (error) {
      if (make && errnoOf(error) === 'ENOENT') return await this.#make(name);
      if (!['ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) throw error;
      const path = joinNames([...this.#here, name]);
      if ((await linkText(this.#descent.here.at(name))) === null) throw systemError('ENOTDIR');
      throw unsafe(`The way leads through ${showPath(path)}, which is a link`);
    }
  }

  async #make(name: Buffer): Promise<void> {
    const names = [...this.#here, name];
    this.#kept_bytes += joinNames(names).length;
    if (this.#kept_bytes > MAX_KEPT_PATH_BYTES) {
      const detail = `The paths of the directories in the tar have more than ${MAX_KEPT_PATH_BYTES} bytes together: send it in parts.`;
      throw new GatewayError('payload_too_large', detail, { limit: MAX_KEPT_PATH_BYTES });
    }
    await mkdir(this.#descent.here.at(name)).catch((error) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
    });
    this.#made.set(keyOf(names), { names, entry: null });
    this.unpacked.directories++;
    await this.#descent.enter(name);
  }
}

/** Nanoseconds as the system's calls take them here. */
export function seconds(ns: bigint): number {
  return Number(ns) / 1e9;
}

function keyOf(names: Buffer[]): string {
  return joinNames(names).toString('latin1');
}
