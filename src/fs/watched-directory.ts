import { type FSWatcher, watch } from 'node:fs';
import type { FileType } from '../protocol/index.js';
import type { Held } from './held-directory.js';
import { isTemporary } from './temporary-name.js';

/** A name that no entry can have: the system tells what becomes of the directory itself under it. */
const ITSELF = '.';

/** A directory of a watched tree: what is known of its entries, and what the system said of them since. Names are bytes as latin1. */
export class WatchedDirectory {
  readonly parent: WatchedDirectory | null;
  readonly name: string;
  readonly depth: number;
  readonly entries = new Map<string, FileType>();
  /** Directories in it that are watched too. */
  readonly children = new Map<string, WatchedDirectory>();
  /** Names that something was said of; true when it was that an entry there changed, false when that one came or went. */
  #dirty = new Map<string, boolean>();
  #watcher: FSWatcher | null = null;
  /** Which directory it is. */
  identity = '';
  /** Whether it was removed or renamed: what was said of it holds no more, whatever is at its path. */
  gone = false;

  constructor(parent: WatchedDirectory | null, name: string) {
    this.parent = parent;
    this.name = name;
    this.depth = parent === null ? 0 : parent.depth + 1;
  }

  /** Names of the directories from the root to this one. */
  get names(): string[] {
    return this.parent === null ? [] : [...this.parent.names, this.name];
  }

  get watched(): boolean {
    return this.#watcher !== null;
  }

  get dirty_count(): number {
    return this.#dirty.size;
  }

  /**
   * Watches what is held. The system watches the directory, not the path: nothing has to be held on.
   * @param hint is called when there is something to look at: in this directory, or for one that is gone in its parent
   */
  watch(held: Held, hint: (directory: WatchedDirectory) => void): void {
    const path = held.fd === null ? held.path : held.at(Buffer.from(ITSELF));
    this.#watcher = watch(path, { encoding: 'buffer', persistent: false }, (kind, name) => {
      if (name === null || String(name) === ITSELF) this.#itself(kind, hint);
      else this.#mark(name.toString('latin1'), kind === 'change', hint);
    });
    this.#watcher.on('error', () => this.#itself('rename', hint));
  }

  takeDirty(): Map<string, boolean> {
    const dirty = this.#dirty;
    this.#dirty = new Map();
    return dirty;
  }

  /**
   * Ends the watching of this directory and all below it.
   * @param closed is called for each that was watched
   */
  close(closed: (directory: WatchedDirectory) => void): void {
    for (const child of this.children.values()) child.close(closed);
    if (this.#watcher === null) return;
    this.#watcher.close();
    this.#watcher = null;
    closed(this);
  }

  #itself(kind: string, hint: (directory: WatchedDirectory) => void): void {
    if (kind !== 'rename') return; // its mode or times: the parent is told of that too
    this.gone = true;
    if (this.parent === null) hint(this);
    else this.parent.#mark(this.name, false, hint);
  }

  #mark(name: string, changed: boolean, hint: (directory: WatchedDirectory) => void): void {
    if (isTemporary(name)) return;
    this.#dirty.set(name, changed || this.#dirty.get(name) === true);
    hint(this);
  }
}
