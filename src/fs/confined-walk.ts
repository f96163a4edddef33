import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { errnoOf, systemError } from './file-error.js';
import { Held } from './held-directory.js';
import { isAbsolute, isDot, isDotDot, pathNames } from './path-bytes.js';
import { linkText, Place } from './place.js';
import { MAX_LINKS } from './system-walk.js';

const DOT = Buffer.from('.');

/** What to walk. */
export interface Walk {
  names: Buffer[];
  /** Whether a link at the end is where it ends. */
  keepLink: boolean;
  /** Whether directories that are missing on the way are made. */
  createParents: boolean;
  /** Whether the path ended in a slash. */
  saysDirectory: boolean;
}

/** What a walk needs to know of its root. */
export interface WalkRoot {
  /** Holds the root. */
  open(): Promise<Held>;
  /** The names that lead from the root to an absolute path; throws `path_outside_root`. */
  below(path: Buffer): Buffer[];
  /** Throws `path_outside_root`. */
  refuse(): never;
}

/**
 * Finds a place below a root, one name after the other, each relative to the descriptor of the directory before it and
 * without following links: those are read, and walked in the same way. `..` goes back to the descriptor it came from.
 * Whatever is renamed or replaced meanwhile, no step leaves the root.
 */
export class ConfinedWalk {
  readonly #root: WalkRoot;
  readonly #createParents: boolean;
  /** The directories on the way, the root first, all held. */
  readonly #way: Held[] = [];
  /** The names to go, the next one last. */
  #ahead: Buffer[] = [];
  #links = 0;

  private constructor(root: WalkRoot, createParents: boolean) {
    this.#root = root;
    this.#createParents = createParents;
  }

  /** Walks `names` from the root; a link at the end is followed, or kept. */
  static async to(root: WalkRoot, { names, keepLink, createParents, saysDirectory }: Walk): Promise<Place> {
    const walk = new ConfinedWalk(root, createParents);
    try {
      walk.#way.push(await root.open());
      walk.#ahead = names.toReversed();
      const name = await walk.#go(keepLink);
      return new Place(walk.#way.pop() as Held, name, false, keepLink, saysDirectory);
    } finally {
      for (const directory of walk.#way) directory.close();
    }
  }

  async #go(keepLink: boolean): Promise<Buffer> {
    for (let name = this.#ahead.pop(); name !== undefined; name = this.#ahead.pop()) {
      if (isDot(name)) continue;
      if (isDotDot(name)) this.#back();
      else if (this.#ahead.length > 0) await this.#enter(name);
      else if (keepLink || !(await this.#follow(name))) return name;
    }
    return DOT;
  }

  get #here(): Held {
    return this.#way.at(-1) as Held;
  }

  #back(): void {
    if (this.#way.length === 1) this.#root.refuse();
    this.#way.pop()?.close();
  }

  async #enter(name: Buffer): Promise<void> {
    try {
      this.#way.push(await this.#open(name));
    } catch (error) {
      // What a link is told as differs between systems; a file is no directory either.
      if (!['ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '') || !(await this.#follow(name))) throw error;
    }
  }

  async #open(name: Buffer): Promise<Held> {
    const path = this.#here.at(name);
    const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW;
    try {
      return await Held.open(path, flags);
    } catch (error) {
      if (!this.#createParents || errnoOf(error) !== 'ENOENT') throw error;
      await mkdir(path).catch((refusal) => {
        if (errnoOf(refusal) !== 'EEXIST') throw refusal;
      });
      return await Held.open(path, flags);
    }
  }

  /** Puts what a link says in front of what is ahead. False when the name is no link. */
  async #follow(name: Buffer): Promise<boolean> {
    const text = await linkText(this.#here.at(name));
    if (text === null) return false;
    if (++this.#links > MAX_LINKS) throw systemError('ELOOP');
    if (isAbsolute(text)) {
      this.#ahead.push(...this.#root.below(text).toReversed());
      for (const directory of this.#way.splice(1)) directory.close();
    } else {
      this.#ahead.push(...pathNames(text).toReversed());
    }
    return true;
  }
}
