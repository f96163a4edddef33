import { constants } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { type FileType, GatewayError, MAX_TREE_DEPTH } from '../protocol/index.js';
import { directoryEntries } from './directory-names.js';
import { errnoOf, fileErrorCode } from './file-error.js';
import { fileType } from './file-type.js';
import { Held, identityOf } from './held-directory.js';
import { wireText } from './path-bytes.js';
import type { WatchBudget } from './watch-budget.js';
import type { NewChange } from './watch-log.js';
import { WatchedDirectory } from './watched-directory.js';

/** From so many names on, and this part of a directory, one listing is cheaper than looking at each. */
const MANY_NAMES = 64;
const MANY_PART = 1 / 32;

type Told = Extract<NewChange, { path: string }>;

/**
 * A directory, or a tree of directories, as last seen. Each directory has a watch of its own, set before it is read, so
 * that nothing escapes both. What the system says is taken as a hint only: the truth is what is found when looking.
 */
export class WatchTree {
  readonly #recursive: boolean;
  readonly #budget: WatchBudget;
  readonly #hinted: () => void;
  #root = new WatchedDirectory(null, '');
  #dirty = new Set<WatchedDirectory>();
  directories = 0;

  /** @param hinted called for each sign of a change */
  constructor(recursive: boolean, budget: WatchBudget, hinted: () => void) {
    this.#recursive = recursive;
    this.#budget = budget;
    this.#hinted = hinted;
  }

  /** Whether there is something to look at. */
  get isHinted(): boolean {
    return this.#dirty.size > 0;
  }

  /** Names that have to be looked at. */
  get dirty_count(): number {
    let count = 0;
    for (const directory of this.#dirty) count += directory.dirty_count;
    return count;
  }

  /** Whether the directory itself was removed or renamed. */
  get gone(): boolean {
    return this.#root.gone;
  }

  /** Directories in the tree that cannot be read. */
  get unreadable(): number {
    return this.#recursive ? unreadableIn(this.#root) : 0;
  }

  /**
   * Sets all watches anew and reads what there is.
   * @param held the directory itself
   */
  async scan(held: Held): Promise<void> {
    this.#root.close(this.#closed);
    this.#root = new WatchedDirectory(null, '');
    this.#dirty = new Set();
    await this.#enter(held, this.#root, null);
  }

  /** What changed where the system said so, since the last look. */
  async look(held: Held): Promise<NewChange[]> {
    // Those above first: what is removed there needs no look below.
    const dirty = [...this.#dirty].sort((a, b) => a.depth - b.depth);
    this.#dirty = new Set();
    const told: Told[] = [];
    for (const directory of dirty) if (directory.watched) await this.#lookIn(held, directory, told);
    return told;
  }

  close(): void {
    this.#root.close(this.#closed);
  }

  readonly #hint = (directory: WatchedDirectory) => {
    this.#dirty.add(directory);
    this.#hinted();
  };

  readonly #closed = ({ entries }: WatchedDirectory) => {
    this.directories--;
    this.#budget.give('directories', 1);
    this.#budget.give('entries', entries.size);
    entries.clear();
  };

  async #lookIn(root: Held, directory: WatchedDirectory, told: Told[]): Promise<void> {
    const names = directory.takeDirty();
    const held = await openBelow(root, directory);
    if (held === null) return; // it is gone: its parent's watch says so
    try {
      const found = await typesOf(held, names, directory);
      for (const [name, changed] of names) await this.#compare(held, directory, name, found.get(name) ?? null, changed, told);
    } catch (error) {
      if (!isDenied(error) || directory.parent === null) throw error;
      // What is in it is not known any longer, as if it were a new one that cannot be read.
      const { parent, name } = directory;
      this.#drop(parent, name, told);
      this.#add(parent, name, 'directory');
      told.push(tell('created', parent, name, 'directory', fileErrorCode(error)));
    } finally {
      if (held !== root) held.close();
    }
  }

  async #compare(
    held: Held,
    directory: WatchedDirectory,
    name: string,
    now: FileType | null,
    changed: boolean,
    told: Told[],
  ): Promise<void> {
    const before = directory.entries.get(name);
    const child = directory.children.get(name);
    if (before !== undefined && (now !== before || (child && !(await isSame(held, child))))) this.#drop(directory, name, told);
    if (now === null) return;
    if (!directory.entries.has(name)) return this.#come(held, directory, name, now, told);
    if (child !== undefined && !changed) return; // it came, and was found, before this was said of it
    const error = this.#enters(now) && child === undefined ? await this.#enterChild(held, directory, name, told) : null;
    told.push(tell('modified', directory, name, now, error));
  }

  async #come(held: Held, directory: WatchedDirectory, name: string, type: FileType, told: Told[] | null): Promise<void> {
    this.#add(directory, name, type);
    const change = told && tell('created', directory, name, type, null);
    if (change) told.push(change);
    const error = this.#enters(type) ? await this.#enterChild(held, directory, name, told) : null;
    if (change) change.error = error;
  }

  #enters(type: FileType): boolean {
    return type === 'directory' && this.#recursive;
  }

  #add(directory: WatchedDirectory, name: string, type: FileType): void {
    this.#budget.take('entries');
    directory.entries.set(name, type);
  }

  #drop(directory: WatchedDirectory, name: string, told: Told[]): void {
    told.push(tell('removed', directory, name, directory.entries.get(name) as FileType, null));
    directory.children.get(name)?.close(this.#closed);
    directory.children.delete(name);
    directory.entries.delete(name);
    this.#budget.give('entries', 1);
  }

  /** Answers the code of what keeps it from being watched, or null. */
  async #enterChild(parent: Held, directory: WatchedDirectory, name: string, told: Told[] | null): Promise<string | null> {
    if (directory.depth >= MAX_TREE_DEPTH) return 'path_too_long';
    const child = new WatchedDirectory(directory, name);
    let held: Held | null = null;
    try {
      held = await openDirectory(parent, name);
      child.identity = identityOf(await held.stat());
      await this.#enter(held, child, told);
      directory.children.set(name, child);
      return null;
    } catch (error) {
      child.close(this.#closed);
      // What is gone already was taken away after its parent's watch was set, which says so.
      if (isGone(error) || isDenied(error)) return fileErrorCode(error);
      throw error;
    } finally {
      held?.close();
    }
  }

  /** Watches a directory, and then reads it. */
  async #enter(held: Held, directory: WatchedDirectory, told: Told[] | null): Promise<void> {
    this.#budget.take('directories');
    this.directories++;
    try {
      directory.watch(held, this.#hint);
    } catch (error) {
      this.#closed(directory);
      throw errnoOf(error) === 'ENOSPC' ? systemIsFull() : error;
    }
    for (const [name, type] of await list(held)) await this.#come(held, directory, name, type, told);
  }
}

function unreadableIn({ entries, children }: WatchedDirectory): number {
  let count = -children.size;
  for (const type of entries.values()) if (type === 'directory') count++;
  for (const child of children.values()) count += unreadableIn(child);
  return count;
}

function tell(event: Told['event'], directory: WatchedDirectory, name: string, type: FileType, error: string | null): Told {
  const [path, path_base64] = wireText(Buffer.from([...directory.names, name].join('/'), 'latin1'));
  return { event, path, path_base64, type, error };
}

function openDirectory(parent: Held, name: string): Promise<Held> {
  return Held.open(parent.at(Buffer.from(name, 'latin1')), constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

/** Name by name from the root on: none of them may be a link. Null when it is not there, or cannot be reached. */
async function openBelow(root: Held, directory: WatchedDirectory): Promise<Held | null> {
  let held = root;
  for (const name of directory.names) {
    try {
      const next = await openDirectory(held, name);
      if (held !== root) held.close();
      held = next;
    } catch (error) {
      if (held !== root) held.close();
      if (isGone(error) || isDenied(error)) return null;
      throw error;
    }
  }
  return held;
}

/** Whether a directory is the one that is watched: one that was removed may be in use still, and then says nothing. */
async function isSame(parent: Held, child: WatchedDirectory): Promise<boolean> {
  if (child.gone) return false;
  const stats = await lstat(parent.at(Buffer.from(child.name, 'latin1')), { bigint: true }).catch(() => null);
  return stats !== null && identityOf(stats) === child.identity;
}

async function list(held: Held): Promise<Map<string, FileType>> {
  const entries = await directoryEntries(held.path).catch((error) => {
    if (isGone(error)) return [];
    throw error;
  });
  return new Map(entries.map((entry) => [entry.name.toString('latin1'), fileType(entry)]));
}

/** What is found under names; nothing where nothing is. */
async function typesOf(held: Held, names: Map<string, unknown>, { entries }: WatchedDirectory): Promise<Map<string, FileType>> {
  if (names.size > MANY_NAMES && names.size > entries.size * MANY_PART) return list(held);
  const found = new Map<string, FileType>();
  const look = async (name: string) => {
    try {
      found.set(name, fileType(await lstat(held.at(Buffer.from(name, 'latin1')))));
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  };
  await Promise.all([...names.keys()].map(look));
  return found;
}

/** Whether something is not there, or no longer what it was. */
const isGone = (error: unknown) => /^(ENOENT|ENOTDIR|ELOOP)$/.test(errnoOf(error) ?? '');

const isDenied = (error: unknown) => fileErrorCode(error) === 'access_denied';

function systemIsFull(): GatewayError {
  const detail = 'The system allows its user no further watches: watch a smaller tree, or raise fs.inotify.max_user_watches.';
  return new GatewayError('too_many_watches', detail);
}
