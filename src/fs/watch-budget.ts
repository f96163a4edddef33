import { GatewayError, MAX_WATCHED_DIRECTORIES, MAX_WATCHED_ENTRIES } from '../protocol/index.js';

const LIMITS = { directories: MAX_WATCHED_DIRECTORIES, entries: MAX_WATCHED_ENTRIES };

/** What all watches of one file system may hold together. */
export class WatchBudget {
  readonly #relieve: () => void;
  readonly #limits: typeof LIMITS;
  readonly #used = { directories: 0, entries: 0 };

  /** @param relieve gives back what nobody needs; called before anything is refused */
  constructor(relieve: () => void, limits = LIMITS) {
    this.#relieve = relieve;
    this.#limits = limits;
  }

  get used(): Readonly<typeof LIMITS> {
    return this.#used;
  }

  /** @throws {GatewayError} `too_many_watches` when one more is too many */
  take(what: keyof typeof LIMITS): void {
    const limit = this.#limits[what];
    if (this.#used[what] >= limit) this.#relieve();
    if (this.#used[what] >= limit) {
      const detail = `The tree and what else is watched hold more than ${limit} ${what}: watch a smaller tree.`;
      throw new GatewayError('too_many_watches', detail, { limit });
    }
    this.#used[what]++;
  }

  give(what: keyof typeof LIMITS, count: number): void {
    this.#used[what] -= count;
  }
}
