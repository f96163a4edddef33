import { type BigIntStats, constants } from 'node:fs';
import {
  type FileChange,
  type FilePath,
  GatewayError,
  MAX_WATCHES,
  WATCH_ID,
  WATCH_LINGER_MS,
  type WatchFilesOptions,
} from '../protocol/index.js';
import type { FileRoot } from './file-root.js';
import { type Held, identityOf } from './held-directory.js';
import { HintMeter } from './hint-meter.js';
import { pathBytes } from './path-bytes.js';
import { SharedWatch } from './shared-watch.js';
import { WatchBudget } from './watch-budget.js';
import { WatchReader } from './watch-reader.js';

const ID = new RegExp(WATCH_ID);

/** All watches of files: readers of the same directory share one. */
export class FileWatches {
  readonly #root: FileRoot;
  readonly #linger_ms: number;
  readonly #budget = new WatchBudget(() => {
    for (const watch of this.#idle()) watch.close();
  });
  readonly #meter = new HintMeter(() => {
    for (const watch of this.#all) watch.lose();
  });
  readonly #all = new Set<SharedWatch>();
  /** By what it watches; fulfilled when it is set. */
  readonly #known = new Map<string, Promise<SharedWatch>>();
  #closed = false;

  constructor(root: FileRoot, linger_ms = WATCH_LINGER_MS) {
    this.#root = root;
    this.#linger_ms = linger_ms;
  }

  /**
   * Begins to read the watch of a directory; it is set when there is none.
   * @throws {GatewayError} `not_a_directory`, `too_many_watches`, `invalid_cursor`, and what the path meets
   */
  async read(path: FilePath, { recursive = false, after_id, signal }: WatchFilesOptions = {}): Promise<AsyncIterable<FileChange[]>> {
    if (after_id !== undefined && !ID.test(after_id)) throw badId(after_id);
    for (;;) {
      signal?.throwIfAborted();
      const watch = await this.#find(path, recursive);
      signal?.throwIfAborted();
      if (!watch.closed) return new WatchReader(watch, after_id, signal);
    }
  }

  /** What is watched, for the metrics and for tests. */
  get used(): { watches: number; directories: number; entries: number } {
    return { watches: this.#all.size, ...this.#budget.used };
  }

  /** Ends all of them, and all reading. */
  close(): void {
    this.#closed = true;
    for (const watch of this.#all) watch.close();
  }

  async #find(path: FilePath, recursive: boolean): Promise<SharedWatch> {
    const { held, stats } = await this.#hold(path);
    held.close();
    const identity = identityOf(stats);
    // A new directory may have the number of one that is gone, whose watch does not know yet.
    const key = `${recursive} ${identity} ${stats.birthtimeNs} ${pathBytes(path).toString('latin1')}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#checkRoom();
    const hold = async () => {
      const now = await this.#hold(path);
      if (identityOf(now.stats) === identity) return now.held;
      now.held.close();
      throw new GatewayError('path_not_found', 'Another directory is there now.');
    };
    const made = this.#make(key, recursive, hold);
    this.#known.set(key, made);
    return made;
  }

  async #make(key: string, recursive: boolean, hold: () => Promise<Held>): Promise<SharedWatch> {
    const watch: SharedWatch = new SharedWatch({
      hold,
      recursive,
      linger_ms: this.#linger_ms,
      budget: this.#budget,
      signed: () => this.#meter.count(),
      over: () => {
        this.#all.delete(watch);
        this.#known.delete(key);
      },
    });
    this.#all.add(watch);
    await watch.set();
    return watch;
  }

  #hold(path: FilePath): Promise<{ held: Held; stats: BigIntStats }> {
    return this.#root.at(path, { links: 'follow' }, (place) => place.hold(constants.O_DIRECTORY));
  }

  /** A watch that nobody reads makes room, the one that was left first. */
  #checkRoom(): void {
    if (this.#closed) throw new GatewayError('shutting_down', 'Nothing is watched any more.');
    if (this.#all.size >= MAX_WATCHES) this.#idle()[0]?.close();
    if (this.#all.size < MAX_WATCHES) return;
    const detail = `${MAX_WATCHES} directories are watched, which is the limit: end one, or watch a directory above several of them.`;
    throw new GatewayError('too_many_watches', detail, { limit: MAX_WATCHES });
  }

  /** Watches without readers, the one that was left first first. */
  #idle(): SharedWatch[] {
    const idle = [...this.#all].filter(({ idle_since }) => idle_since !== null);
    return idle.sort((a, b) => (a.idle_since as number) - (b.idle_since as number));
  }
}

function badId(after_id: string): GatewayError {
  const detail = `after_id must be the id of an event of this watch; got ${JSON.stringify(after_id.slice(0, 60))}. Leave it out to begin anew.`;
  return new GatewayError('invalid_cursor', detail, { field: 'after_id' });
}
