import { GatewayError, WATCH_RING_BYTES, WATCH_WINDOW_MS } from '../protocol/index.js';
import { fileErrorCode } from './file-error.js';
import type { Held } from './held-directory.js';
import type { WatchBudget } from './watch-budget.js';
import { WatchLog } from './watch-log.js';
import { WatchTree } from './watch-tree.js';

/** Names that wait to be looked at. With more, all is read anew, and told as an overflow. */
const MAX_DIRTY = 100_000;

/**
 * The system does not tell when a directory above is renamed, nor that one is removed while something still uses it: so
 * often it is looked whether the directory is still at its path, in milliseconds.
 */
const CHECK_MS = 2_000;

/** How to make a watch, and what it needs of its surroundings. */
export interface SharedWatchOptions {
  /** Holds the directory; what it rejects with ends the watch. */
  hold: () => Promise<Held>;
  recursive: boolean;
  budget: WatchBudget;
  /** How long it goes on without readers, in milliseconds. */
  linger_ms: number;
  /** Called for every sign of a change. */
  signed: () => void;
  /** Called once, when it is over. */
  over: () => void;
}

/** One watch for all readers of the same directory. Without readers it goes on for a while, so that one can come back. */
export class SharedWatch {
  readonly log = new WatchLog(WATCH_RING_BYTES);
  readonly #options: SharedWatchOptions;
  readonly #tree: WatchTree;
  #readers = 0;
  /** When the last reader left; it decides who makes room. */
  idle_since: number | null = null;
  #end: NodeJS.Timeout | null = null;
  /** Also keeps the program running, which the watches themselves do not. */
  #check: NodeJS.Timeout | null = null;
  #window: NodeJS.Timeout | null = null;
  #looking = false;
  #lost = false;
  #closed = false;

  constructor(options: SharedWatchOptions) {
    this.#options = options;
    this.#tree = new WatchTree(options.recursive, options.budget, () => {
      options.signed();
      this.#look();
    });
  }

  /** Sets it; to be called once, before readers come. A watch that cannot be set is closed. */
  async set(): Promise<void> {
    this.#looking = true;
    try {
      await this.#scan();
    } catch (error) {
      this.close();
      throw error;
    } finally {
      this.#settle();
    }
    this.#linger();
  }

  get closed(): boolean {
    return this.#closed;
  }

  get directories(): number {
    return this.#tree.directories;
  }

  get unreadable(): number {
    return this.#tree.unreadable;
  }

  /** A reader has come. */
  enter(): void {
    this.#readers++;
    this.idle_since = null;
    clearTimeout(this.#end ?? undefined);
    this.#check ??= setInterval(() => this.#look(), CHECK_MS);
  }

  /** A reader has left. */
  leave(): void {
    if (--this.#readers > 0) return;
    clearInterval(this.#check ?? undefined);
    this.#check = null;
    this.#linger();
  }

  /** The system has dropped signs of changes: what is known does not hold. */
  lose(): void {
    this.#lost = true;
    this.#look();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#end ?? undefined);
    clearTimeout(this.#window ?? undefined);
    if (!this.#looking) this.#tree.close();
    this.log.end();
    this.#options.over();
  }

  #linger(): void {
    if (this.#closed) return;
    this.idle_since = performance.now();
    this.#end = setTimeout(() => this.close(), this.#options.linger_ms).unref();
  }

  /** Looks when the window is over. */
  #look(): void {
    if (this.#window !== null || this.#looking || this.#closed) return;
    this.#window = setTimeout(() => {
      this.#window = null;
      void this.#lookNow();
    }, WATCH_WINDOW_MS);
  }

  async #lookNow(): Promise<void> {
    this.#looking = true;
    try {
      if (this.#tree.gone) throw new GatewayError('path_not_found', 'The directory was removed or renamed.');
      if (this.#lost || this.#tree.dirty_count > MAX_DIRTY) {
        this.#lost = false;
        await this.#scan();
        this.log.append([{ event: 'overflow', reason: 'system' }]);
      } else {
        this.log.append(await this.#hold((held) => this.#tree.look(held)));
      }
    } catch (error) {
      this.log.append([{ event: 'ended', code: fileErrorCode(error) }]);
      this.close();
    } finally {
      this.#settle();
    }
  }

  /** What came up while nothing could be done about it. */
  #settle(): void {
    this.#looking = false;
    if (this.#closed) this.#tree.close();
    else if (this.#lost || this.#tree.isHinted) this.#look();
  }

  #scan(): Promise<void> {
    return this.#hold((held) => this.#tree.scan(held));
  }

  /** Only while it is looked at: a directory that is held cannot go, and the system would not tell that it was removed. */
  async #hold<T>(act: (held: Held) => Promise<T>): Promise<T> {
    const held = await this.#options.hold();
    try {
      return await act(held);
    } finally {
      held.close();
    }
  }
}
