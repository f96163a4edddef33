import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileChange, FileType } from '../../src/protocol/index.js';

/** Paths as bytes in latin1, and what is there. */
export type Listing = Map<string, FileType>;

/** What is in a directory, below it too on request. */
export function listing(dir: string, recursive: boolean): Listing {
  const found: Listing = new Map();
  const add = (path: Buffer, prefix: string) => {
    for (const entry of readdirSync(path, { withFileTypes: true, encoding: 'buffer' })) {
      const name = prefix + entry.name.toString('latin1');
      found.set(name, entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'symlink' : entry.isFIFO() ? 'fifo' : 'file');
      if (recursive && entry.isDirectory()) add(Buffer.concat([path, Buffer.from('/'), entry.name]), `${name}/`);
    }
  };
  add(Buffer.from(dir), '');
  return found;
}

/** A reader of a watch that applies what it is told to a listing, as a program that mirrors a directory would. */
export class Mirror {
  readonly told: FileChange[] = [];
  /** Whether it was told to list again. */
  overflows = 0;
  ended: string | null = null;
  files: Listing = new Map();
  readonly #iterator: AsyncIterator<FileChange[]>;
  readonly #list: () => Listing;
  readonly #dir: string;
  #marks = 0;

  constructor(source: AsyncIterable<FileChange[]>, dir: string, recursive: boolean) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#dir = dir;
    this.#list = () => listing(dir, recursive);
  }

  get last_id(): string {
    return this.told.at(-1)?.id ?? '';
  }

  /** Reads on until an event is as wanted. */
  async until(wanted: (change: FileChange) => boolean): Promise<FileChange> {
    for (;;) {
      const { done, value } = await this.#iterator.next();
      if (done) throw new Error(`The watch is over after ${JSON.stringify(this.told.slice(-5))}`);
      let found: FileChange | undefined;
      for (const change of value as FileChange[]) {
        this.#apply(change);
        if (wanted(change)) found ??= change;
      }
      if (found) return found;
    }
  }

  /** Resolves when all that happened up to now was told. */
  async caughtUp(): Promise<void> {
    // Twice: with the first mark comes all that was known of then, and the second comes after what that led to.
    for (let round = 0; round < 2; round++) {
      const mark = `.mark-${this.#marks++}`;
      await writeFile(join(this.#dir, mark), '');
      const overflows = this.overflows;
      await this.until((change) => ('path' in change && change.path === mark) || this.overflows > overflows);
    }
  }

  /** Fails unless it is over without a word. */
  async over(): Promise<boolean> {
    return (await this.#iterator.next()).done === true;
  }

  async leave(): Promise<void> {
    await this.#iterator.return?.();
  }

  #apply(change: FileChange): void {
    this.told.push(change);
    if (change.event === 'ended') this.ended = change.code;
    else if (change.event === 'ready' || change.event === 'overflow') {
      if (change.event === 'overflow') this.overflows++;
      this.files = this.#list();
    } else {
      const path = change.path_base64 === null ? Buffer.from(change.path).toString('latin1') : atob(change.path_base64);
      if (change.event !== 'removed') this.files.set(path, change.type);
      else for (const name of [...this.files.keys()]) if (name === path || name.startsWith(`${path}/`)) this.files.delete(name);
    }
  }
}
