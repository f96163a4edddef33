import { type BigIntStats, constants } from 'node:fs';
import { systemError } from './file-error.js';
import { Held, identityOf } from './held-directory.js';

/** Directories of one descent that are held at once: a tree of any depth takes no more descriptors. */
const HELD_LEVELS = 32;

const { O_DIRECTORY, O_NOFOLLOW } = constants;
const PARENT = Buffer.from('..');

interface Level {
  held: Held | null;
  stats: BigIntStats;
}

/**
 * A way down a tree and back, held by descriptors: no link is followed, and whatever is renamed meanwhile, going back leads to
 * the directory that was come from, or fails.
 */
export class Descent {
  readonly #levels: Level[] = [];

  private constructor() {}

  /** Begins in the directory of that name; ENOTDIR or ELOOP when it is none. */
  static async into(parent: Held, name: Buffer): Promise<Descent> {
    const descent = new Descent();
    await descent.#push(parent, name);
    return descent;
  }

  /** The directory it is in. */
  get here(): Held {
    return this.#top.held as Held;
  }

  /** What the directory it is in is, whatever its names. */
  get identity(): string {
    return identityOf(this.stats);
  }

  /** Of the directory it is in, when it was entered. */
  get stats(): BigIntStats {
    return this.#top.stats;
  }

  get #top(): Level {
    return this.#levels.at(-1) as Level;
  }

  /** How many directories it is in, the first included. */
  get depth(): number {
    return this.#levels.length;
  }

  async enter(name: Buffer): Promise<void> {
    await this.#push(this.here, name);
    const far = this.#levels.at(-1 - HELD_LEVELS);
    if (!far?.held?.fd) return;
    far.held.close();
    far.held = null;
  }

  /** Back to where it came from; gives the directory it is in then, or null above the one it began in. */
  async leave(): Promise<Held | null> {
    const left = this.#levels.pop()?.held as Held;
    try {
      const level = this.#levels.at(-1);
      if (!level) return null;
      level.held ??= await openSame(left.at(PARENT), identityOf(level.stats));
      return level.held;
    } finally {
      left.close();
    }
  }

  close(): void {
    for (const { held } of this.#levels.splice(0)) held?.close();
  }

  async #push(parent: Held, name: Buffer): Promise<void> {
    const held = await Held.open(parent.at(name), O_DIRECTORY | O_NOFOLLOW);
    try {
      this.#levels.push({ held, stats: await held.stat() });
    } catch (error) {
      held.close();
      throw error;
    }
  }
}

async function openSame(path: Buffer, identity: string): Promise<Held> {
  const held = await Held.open(path, O_DIRECTORY | O_NOFOLLOW);
  try {
    if (identityOf(await held.stat()) !== identity) throw systemError('EBUSY');
    return held;
  } catch (error) {
    held.close();
    throw error;
  }
}
