/** Something that takes long to start, and ends of its own accord when this program does. */
export interface Pooled {
  /** Fails when something went wrong with it since it was last asked. */
  check(): void;
  stop(): Promise<void>;
}

/** How many wait to be used again. */
const MOST_IDLE = 5;

/**
 * What the files of one test program use one after another: a gateway spends more on its start and on its first requests than
 * on all that most files ask of it.
 */
export class Pool<T extends Pooled> {
  #idle: { key: string; thing: T }[] = [];
  readonly #used = new Map<T, string>();

  /** One that waits, or a new one. @param key what tells it from others */
  async take(key: string, create: () => Promise<T>): Promise<T> {
    const index = this.#idle.findIndex((idle) => idle.key === key);
    const thing = index < 0 ? await create() : (this.#idle.splice(index, 1)[0] as { thing: T }).thing;
    this.#used.set(thing, key);
    return thing;
  }

  /** It may be used by others now; fails when something went wrong with it, and then it is stopped. */
  async giveBack(thing: T): Promise<void> {
    const key = this.#used.get(thing);
    if (key === undefined) throw new Error('It was not taken, or given back already.');
    this.#used.delete(thing);
    try {
      thing.check();
    } catch (error) {
      await thing.stop().catch(() => {}); // what is wrong with it is told already
      throw error;
    }
    this.#idle.push({ key, thing });
    if (this.#idle.length > MOST_IDLE) await this.#idle.shift()?.thing.stop();
  }
}
