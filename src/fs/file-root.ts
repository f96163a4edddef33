import { constants, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type FilePath, GatewayError } from '../protocol/index.js';
import { ConfinedWalk } from './confined-walk.js';
import { errnoOf, fileError, pathError, systemError } from './file-error.js';
import { Held, HOLDS_DESCRIPTORS, identityOf } from './held-directory.js';
import { isAbsolute, isDot, isDotDot, pathBytes, pathNames, saysDirectory, showPath } from './path-bytes.js';
import type { Links, Place } from './place.js';
import { systemWalk } from './system-walk.js';

export interface FindOptions {
  /** Default `keep`. */
  links?: Links | undefined;
  /** Make the directories above the place that are missing. Default false. */
  createParents?: boolean | undefined;
  /** What the caller gives to have them made. */
  parentsBy?: 'create_parents' | 'recursive';
}

/** Walks that are begun anew because what they led to became a link: a path that is swapped all the time is given up then. */
const ATTEMPTS = 20;

/** The directory that no path leaves, and the way from a path to a place. */
export class FileRoot {
  /** The path of the root, without links. */
  readonly path: string;
  /** The names that lead to it: as it was given, and as it is. */
  readonly #spellings: Buffer[][];

  /**
   * @param path default `/`: every path is allowed, and the system resolves it
   * @throws {GatewayError} `path_not_found` and the like, unless there is a directory; `file_error` on Linux without /proc
   */
  constructor(path = '/') {
    try {
      this.path = realpathSync(path);
      if (!statSync(this.path).isDirectory()) throw systemError('ENOTDIR');
    } catch (error) {
      throw fileError(error, `The file root ${JSON.stringify(path)}`);
    }
    this.#spellings = [resolve(path), this.path].map((spelling) => pathNames(Buffer.from(spelling)));
    if (this.isConfined && process.platform === 'linux' && !HOLDS_DESCRIPTORS) {
      throw new GatewayError('file_error', 'A file root other than / needs /proc: paths are walked through /proc/self/fd.');
    }
  }

  /** Whether there is anything outside. */
  get isConfined(): boolean {
    return this.path !== '/';
  }

  /**
   * Finds the place of a path and acts on it. The place is let go of afterwards; what the system refuses is told as a `GatewayError`.
   * @throws {GatewayError} `path_outside_root`, those of {@link pathBytes}, and what the system says on the way
   */
  async at<T>(path: FilePath, options: FindOptions, act: (place: Place) => Promise<T>): Promise<T> {
    const bytes = pathBytes(path);
    for (let attempt = 1; ; attempt++) {
      const place = await this.find(path, options);
      try {
        return await act(place);
      } catch (error) {
        if (errnoOf(error) !== 'ELOOP' || attempt === ATTEMPTS) throw pathError(error, bytes);
      } finally {
        place.close();
      }
    }
  }

  /** The place of a path; whoever asks for it closes it. Throws as {@link at} does. */
  async find(path: FilePath, { links = 'keep', createParents = false, parentsBy }: FindOptions): Promise<Place> {
    const bytes = pathBytes(path);
    try {
      return await this.#walk(bytes, links, createParents);
    } catch (error) {
      throw pathError(errnoOf(error) === 'ENOENT' ? nothingAbove(error, bytes, parentsBy) : error, bytes);
    }
  }

  /** Whether a place is the root itself. */
  async isRoot(place: Place): Promise<boolean> {
    if (!place.isDirectoryItself) return false;
    return identityOf(await place.directory.stat()) === (await this.identity());
  }

  /** What the root is, whatever its names. */
  async identity(): Promise<string> {
    const root = await this.open();
    try {
      return identityOf(await root.stat());
    } finally {
      root.close();
    }
  }

  open(): Promise<Held> {
    return Held.open(Buffer.from(this.path), constants.O_DIRECTORY);
  }

  /**
   * The names that lead from the root to an absolute path. A `..` on the way to the root leaves it.
   * @param asked the path that led there, which is told: where a link leads outside of the root is not
   */
  below(path: Buffer, asked = path): Buffer[] {
    const names = pathNames(path).filter((name) => !isDot(name));
    for (const root of this.#spellings) {
      if (root.every((name, i) => names[i]?.equals(name))) return [...names.slice(root.length), ...(endsInDot(path) ? [DOT] : [])];
    }
    return this.refuse(asked);
  }

  refuse(path: Buffer): never {
    const detail = `${showPath(path)} leads out of the file root. Give a path below it, relative to it or absolute.`;
    throw new GatewayError('path_outside_root', detail);
  }

  async #walk(path: Buffer, links: Links, createParents: boolean): Promise<Place> {
    const absolute = isAbsolute(path);
    if (!this.isConfined) return await systemWalk(absolute ? path : Buffer.concat([SLASH, path]), links, createParents);
    const names = absolute ? this.below(path) : pathNames(path);
    this.#refuseAscent(names, path);
    const root = { open: () => this.open(), below: (target: Buffer) => this.below(target, path), refuse: () => this.refuse(path) };
    return await ConfinedWalk.to(root, { names, keepLink: links === 'keep', createParents, saysDirectory: saysDirectory(path) });
  }

  /** A path that ascends above its beginning is refused for its text alone, whether or not there is what it leads through. */
  #refuseAscent(names: Buffer[], path: Buffer): void {
    let depth = 0;
    for (const name of names) {
      depth += isDotDot(name) ? -1 : isDot(name) ? 0 : 1;
      if (depth < 0) this.refuse(path);
    }
  }
}

/** A walk enters what is above a place, and nothing else: what it misses is a directory. */
function nothingAbove(cause: unknown, path: Buffer, parentsBy: string | undefined): GatewayError {
  const advice = parentsBy === undefined ? '' : `: give ${parentsBy}=true to make it`;
  const detail = `${showPath(path)} does not exist, and neither does the directory it would be in${advice} (ENOENT).`;
  return new GatewayError('path_not_found', detail, {}, { cause });
}

const SLASH = Buffer.from('/');
const DOT = Buffer.from('.');

const endsInDot = (path: Buffer): boolean => {
  const last = pathNames(path).at(-1);
  return last !== undefined && isDot(last);
};
