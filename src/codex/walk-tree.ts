import { type ExecutorFileSystem, type FilePath, GatewayError } from '../protocol/index.js';
import { bytesOf, fileUri, pathOf } from './file-uri.js';
import { type Entry, listDirectory } from './list-directory.js';
import type { Params } from './params.js';
import { realPath } from './real-path.js';

/** Entries and directories of one walk at most, whatever is asked for: more would not fit a message. */
const MOST_ENTRIES = 200_000;

/** How far a walk goes. */
export interface WalkOptions {
  /** Levels below the entries of the directory itself. */
  maxDepth: number;
  /** Directories that are read. */
  maxDirectories: number;
  maxEntries: number;
  followDirectorySymlinks: boolean;
  /** Whether directories whose name begins with a dot are told and not entered. */
  pruneHiddenDirectories: boolean;
}

/** Reads the options of `fs/walk`. */
export const walkOptions = (params: Params): WalkOptions => ({
  maxDepth: params.count('maxDepth'),
  maxDirectories: Math.min(params.count('maxDirectories'), MOST_ENTRIES),
  maxEntries: Math.min(params.count('maxEntries'), MOST_ENTRIES),
  followDirectorySymlinks: params.flag('followDirectorySymlinks'),
  pruneHiddenDirectories: params.optionalFlag('pruneHiddenDirectories', false),
});

/**
 * Answers `fs/walk`: the files and directories below one, level by level, each directory once. Links to files are left out.
 * A directory that cannot be read is told in `errors`, but the first.
 */
export async function walkTree(files: ExecutorFileSystem, path: FilePath, options: WalkOptions, signal: AbortSignal): Promise<object> {
  const walk = new Walk(files, options, signal);
  if ((await files.getMetadata(path, { follow_symlinks: true, signal })).type === 'directory') await walk.run(path);
  const { entries, errors, truncated } = walk;
  return { entries, errors, truncated };
}

class Walk {
  readonly entries: { path: string; kind: 'file' | 'directory' }[] = [];
  readonly errors: { path: string; message: string }[] = [];
  truncated = false;
  readonly #seen = new Set<string>();
  readonly #queue: { path: Buffer; depth: number }[] = [];

  constructor(
    readonly files: ExecutorFileSystem,
    readonly options: WalkOptions,
    readonly signal: AbortSignal,
  ) {}

  async run(path: FilePath): Promise<void> {
    await this.#enter(bytesOf(path), 0);
    for (let read = 0; this.#queue.length > 0 && !this.truncated; read++) {
      this.truncated = read >= this.options.maxDirectories;
      const next = this.#queue.shift();
      if (next && !this.truncated) await this.#read(next.path, next.depth, read === 0);
    }
  }

  async #read(path: Buffer, depth: number, first: boolean): Promise<void> {
    let found: Entry[];
    try {
      found = await listDirectory(this.files, pathOf(path), this.signal);
    } catch (error) {
      if (first || !(error instanceof GatewayError)) throw error;
      this.errors.push({ path: fileUri(path), message: error.message });
      return;
    }
    for (const entry of found) {
      if (!(await this.#tell(entry, depth))) return;
    }
  }

  /** False when there is room for no more. */
  async #tell({ name, path, type, is_link }: Entry, depth: number): Promise<boolean> {
    const { maxDepth, maxEntries, followDirectorySymlinks, pruneHiddenDirectories } = this.options;
    if (type !== 'file' && type !== 'directory') return true;
    if (is_link && (type === 'file' || !followDirectorySymlinks)) return true;
    if (type === 'directory' && is_link && (await this.#isSeen(path))) return true;
    if (this.entries.length >= maxEntries) {
      this.truncated = true;
      return false;
    }
    this.entries.push({ path: fileUri(path), kind: type });
    const isHidden = pruneHiddenDirectories && name.startsWith('.');
    if (type === 'directory' && depth < maxDepth && !isHidden) await this.#enter(path, depth + 1);
    return true;
  }

  async #isSeen(path: Buffer): Promise<boolean> {
    return this.#seen.has(await this.#identity(path));
  }

  async #enter(path: Buffer, depth: number): Promise<void> {
    if (this.options.followDirectorySymlinks) {
      const identity = await this.#identity(path);
      if (this.#seen.has(identity)) return;
      this.#seen.add(identity);
    }
    this.#queue.push({ path, depth });
  }

  /** What a directory is, whatever links lead to it. */
  async #identity(path: Buffer): Promise<string> {
    try {
      return (await realPath(this.files, pathOf(path), this.signal)).path.toString('latin1');
    } catch (error) {
      if (error instanceof GatewayError) return path.toString('latin1');
      throw error;
    }
  }
}
