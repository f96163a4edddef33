import { constants } from 'node:fs';
import { lstat } from 'node:fs/promises';
import {
  DEFAULT_FILE_PAGE,
  type DirectoryEntry,
  type DirectoryList,
  type FileMetadata,
  GatewayError,
  type ReadDirectoryOptions,
} from '../protocol/index.js';
import { directoryNames, nameBytes } from './directory-names.js';
import { errnoOf, fileErrorCode } from './file-error.js';
import { fileMetadata } from './file-metadata.js';
import { Held } from './held-directory.js';
import { inParallel, PARALLEL } from './in-parallel.js';
import { isDot, isDotDot, wireText } from './path-bytes.js';
import { linkText } from './place.js';

/** Entries that are looked up before those below the first of them are. */
const LOOK_AHEAD = 4 * PARALLEL;

const { O_DIRECTORY, O_NOFOLLOW } = constants;
const SLASH = Buffer.from('/');

/**
 * One page of a directory's tree: a directory before what it holds, each directory's names sorted by their bytes. Names are read
 * whole, the rest is looked up for the entries of the page alone; those that are gone by then are left out.
 */
export async function readPage(directory: Held, options: ReadDirectoryOptions): Promise<DirectoryList> {
  const limit = options.limit ?? DEFAULT_FILE_PAGE;
  const page = new DirectoryPage(limit + 1, options.signal);
  await page.read(directory, null, decodeCursor(options.cursor), options.depth ?? 1);
  const found = page.found.slice(0, limit);
  const last = page.found.length > limit ? found.at(-1) : undefined;
  return { entries: found.map(({ entry }) => entry), next_cursor: last ? last.path.toString('base64url') : null };
}

interface Found {
  path: Buffer;
  entry: DirectoryEntry;
}

class DirectoryPage {
  readonly found: Found[] = [];
  readonly #room: number;
  readonly #signal: AbortSignal | undefined;

  constructor(room: number, signal: AbortSignal | undefined) {
    this.#room = room;
    this.#signal = signal;
  }

  get #isFull(): boolean {
    return this.found.length >= this.#room;
  }

  /**
   * Adds what is in a directory.
   * @param after names that lead to the last entry of the page before, or none
   */
  async read(directory: Held, prefix: Buffer | null, after: string[], depth: number): Promise<void> {
    const [floor, ...below] = after;
    if (floor !== undefined && depth > 1) {
      // What could not be read there was told with its entry.
      await this.#descend(directory, nameBytes(floor), join(prefix, nameBytes(floor)), below, depth - 1);
    }
    const all = await directoryNames(directory.path);
    const names = floor === undefined ? all : all.slice(firstAfter(all, floor));
    for (let from = 0; from < names.length && !this.#isFull; ) {
      this.#signal?.throwIfAborted();
      const some = names.slice(from, from + Math.min(LOOK_AHEAD, this.#room - this.found.length));
      from += some.length;
      for (const found of await inParallel(some, (name) => lookUp(directory, prefix, nameBytes(name)))) {
        if (found && !this.#isFull) await this.#add(directory, found, depth);
      }
    }
  }

  async #add(directory: Held, { found, name }: { found: Found; name: Buffer }, depth: number): Promise<void> {
    this.found.push(found);
    if (found.entry.type !== 'directory' || depth === 1) return;
    found.entry.error = await this.#descend(directory, name, found.path, [], depth - 1);
    if (found.entry.error === 'path_not_found' && this.found.at(-1) === found) this.found.pop();
  }

  /** The error code when the directory cannot be read. */
  async #descend(parent: Held, name: Buffer, path: Buffer, after: string[], depth: number): Promise<string | null> {
    let held: Held | undefined;
    try {
      held = await Held.open(parent.at(name), O_DIRECTORY | O_NOFOLLOW);
      await this.read(held, path, after, depth);
      return null;
    } catch (error) {
      this.#signal?.throwIfAborted();
      return fileErrorCode(error);
    } finally {
      held?.close();
    }
  }
}

async function lookUp(directory: Held, prefix: Buffer | null, name: Buffer): Promise<{ found: Found; name: Buffer } | null> {
  const path = join(prefix, name);
  const entry = { ...nameFields(name, path), type: null, metadata: null, error: null };
  try {
    const metadata = await look(directory.at(name));
    return { name, found: { path, entry: { ...entry, type: metadata.type, metadata } } };
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? null : { name, found: { path, entry: { ...entry, error: fileErrorCode(error) } } };
  }
}

async function look(path: Buffer): Promise<FileMetadata> {
  const stats = await lstat(path, { bigint: true });
  return fileMetadata(stats, stats.isSymbolicLink() ? ((await linkText(path)) ?? undefined) : undefined);
}

function nameFields(name: Buffer, path: Buffer) {
  const [nameText, name_base64] = wireText(name);
  const [pathText, path_base64] = wireText(path);
  return { name: nameText, name_base64, path: pathText, path_base64 };
}

const join = (prefix: Buffer | null, name: Buffer): Buffer => (prefix ? Buffer.concat([prefix, SLASH, name]) : name);

/** Where the names after `floor` begin, in sorted names. */
function firstAfter(names: string[], floor: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] as string) <= floor) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The names of a cursor. They are used as names, so nothing else is let in. */
function decodeCursor(cursor: string | undefined): string[] {
  if (cursor === undefined) return [];
  const bytes = Buffer.from(cursor, 'base64url');
  const names = bytes.toString('latin1').split('/');
  const bad = names.some((name) => name === '' || isDot(nameBytes(name)) || isDotDot(nameBytes(name)) || name.includes('\0'));
  if (bad || bytes.toString('base64url') !== cursor) {
    throw new GatewayError('invalid_cursor', `${JSON.stringify(cursor)} was not given out as next_cursor of this call.`, {
      field: 'cursor',
    });
  }
  return names;
}
