import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { FileType } from '../protocol/file.js';
import { MAX_WALK_DEPTH } from '../protocol/limits.js';
import { wholeEntries } from './directory-names.js';
import { fileType } from './file-type.js';
import { HOLDS_DESCRIPTORS, O_PATH } from './held-directory.js';
import { IgnoreRules } from './search-ignore.js';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_DIRECTORY } = constants;

/** Largest .gitignore that is read, in bytes. */
const MAX_RULES_BYTES = 1024 * 1024;

const SLASH = Buffer.from('/');
const NOTHING = Buffer.alloc(0);

/** Something in the tree. */
export interface TreeEntry {
  /** Below the directory that is searched. */
  path: Buffer;
  /** The same as text, as globs see it. */
  shown: string;
  name: string;
  type: FileType;
  /** Where to open it while it is walked over. */
  at: Buffer;
}

/**
 * Opens a regular file to read it. Nothing waits: not for a fifo's writer, nor for a device.
 * @param flags O_NOFOLLOW, unless what is opened is held already
 * @returns null for what cannot be opened, or is something else
 */
export function openRegular(at: Buffer, flags: number = O_NOFOLLOW): { fd: number; size: number } | null {
  return opened(at, flags | O_RDONLY | O_NONBLOCK | O_NOCTTY, (fd) => {
    const stats = fstatSync(fd);
    return stats.isFile() ? { fd, size: stats.size } : null;
  });
}

/**
 * Walks over a tree, in the order of the bytes of its names, a directory before what it holds. It goes from descriptor to
 * descriptor and follows no link, so nothing that is put in a directory's place leads it out of the tree. It blocks: it is for
 * a thread of its own.
 */
export class TreeWalk {
  /** Directories that could not be read, or lie too deep. */
  unreadable = 0;
  readonly #gitignore: boolean;

  constructor(gitignore: boolean) {
    this.#gitignore = gitignore;
  }

  /** @param rules those of the directories above */
  walk(directory: Buffer, rules: IgnoreRules | null): Generator<TreeEntry> {
    return this.#directory(directory, NOTHING, rules, 1);
  }

  *#directory(at: Buffer, place: Buffer, above: IgnoreRules | null, depth: number): Generator<TreeEntry> {
    const entries = list(at);
    if (entries === null) {
      this.unreadable++;
      return;
    }
    const rules = this.#gitignore ? rulesOf(at, entries, place.toString(), above) : null;
    for (const dirent of entries) {
      const name = dirent.name.toString();
      const path = Buffer.concat([place, dirent.name]);
      const entry = { path, shown: path.toString(), name, type: fileType(dirent), at: Buffer.concat([at, SLASH, dirent.name]) };
      const is_directory = entry.type === 'directory';
      if (this.#gitignore && (name === '.git' || rules?.ignores(entry.shown, name, is_directory))) continue;
      yield entry;
      if (is_directory) yield* this.#below(entry, rules, depth);
    }
  }

  *#below(entry: TreeEntry, rules: IgnoreRules | null, depth: number): Generator<TreeEntry> {
    const held = depth < MAX_WALK_DEPTH ? hold(entry.at) : null;
    if (held === null) {
      this.unreadable++;
      return;
    }
    try {
      yield* this.#directory(held.path, Buffer.concat([entry.path, SLASH]), rules, depth + 1);
    } finally {
      held.close();
    }
  }
}

function list(at: Buffer): Dirent<Buffer>[] | null {
  try {
    return wholeEntries(readdirSync(at, { encoding: 'buffer', withFileTypes: true })).sort((a, b) => Buffer.compare(a.name, b.name));
  } catch {
    return null;
  }
}

function hold(at: Buffer): { path: Buffer; close(): void } | null {
  if (!HOLDS_DESCRIPTORS) return { path: at, close: () => {} };
  const held = (fd: number) => ({ path: Buffer.from(`/proc/self/fd/${fd}`), close: () => closeSync(fd) });
  return opened(at, O_PATH | O_DIRECTORY | O_NOFOLLOW, held);
}

/** A repository in a repository has rules of its own alone. */
function rulesOf(at: Buffer, entries: Dirent<Buffer>[], place: string, above: IgnoreRules | null): IgnoreRules | null {
  const has = (name: string) => entries.some((entry) => entry.name.equals(Buffer.from(name)));
  const outer = place !== '' && has('.git') ? null : above;
  const text = has('.gitignore') ? readRules(Buffer.concat([at, Buffer.from('/.gitignore')])) : null;
  return text === null ? outer : IgnoreRules.within(outer, text, place);
}

function readRules(at: Buffer): string | null {
  const file = openRegular(at);
  if (file === null) return null;
  try {
    return file.size <= MAX_RULES_BYTES ? readFileSync(file.fd, 'utf8') : null;
  } catch {
    return null;
  } finally {
    closeSync(file.fd);
  }
}

/** What `take` makes of a descriptor; where it makes nothing of it, or fails, the descriptor is closed. */
function opened<T>(at: Buffer, flags: number, take: (fd: number) => T | null): T | null {
  let fd: number | null = null;
  try {
    fd = openSync(at, flags);
    const taken = take(fd);
    if (taken !== null) return taken;
  } catch {
    // It is gone, or may not be opened: told as unreadable.
  }
  if (fd !== null) closeSync(fd);
  return null;
}
