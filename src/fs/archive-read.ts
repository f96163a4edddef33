import { constants, type Dirent } from 'node:fs';
import { open } from 'node:fs/promises';
import { type FilePath, GatewayError, type ReadArchiveOptions } from '../protocol/index.js';
import { directoryHeader, leftOutHeader, type ReadyEntry, readyFile, readyHandle, readyLink } from './archive-file.js';
import { Descent } from './descent.js';
import { directoryEntries } from './directory-names.js';
import { errnoOf, fileError } from './file-error.js';
import type { FileRoot } from './file-root.js';
import type { Held } from './held-directory.js';
import { pathBytes, pathNames, showPath } from './path-bytes.js';
import { closing, refuseSpecial } from './read-file.js';
import { TAR_END } from './tar-entry.js';

/** Given on at a time, in bytes: small files go together. */
const BATCH_BYTES = 256 * 1024;

/** Entries that are opened ahead of their turn: enough to keep Node's four threads busy. */
const AHEAD = 16;

/** What is told of something that is gone, or was swapped for something else, between the list and its turn. */
const VANISHED = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ENODEV', 'EINVAL']);

/** What is of one entry and of no other. */
const UNREADABLE = new Set(['access_denied', 'file_error']);

const NOTHING = Buffer.alloc(0);
const DOT = Buffer.from('.');
const SLASH = Buffer.from('/');

/** A tar of what is at a path, as `ExecutorFileSystem` has it. A link at the end of the path is followed, and no other. */
export async function readArchive(
  root: FileRoot,
  path: FilePath,
  { skip_unreadable = false, signal }: ReadArchiveOptions = {},
): Promise<AsyncIterable<Uint8Array>> {
  signal?.throwIfAborted();
  return await root.at(path, { links: 'follow' }, async (place) => {
    const { held, stats } = await place.hold();
    try {
      if (stats.isDirectory()) {
        const tree = new TreeArchive(await Descent.into(held, DOT), showPath(pathBytes(path)), skip_unreadable, signal);
        return closing(batched(tree.parts()), async () => tree.close());
      }
      refuseSpecial(stats);
      const name = pathNames(pathBytes(path)).at(-1) ?? place.name;
      const handle = await open(held.path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
      const file = await readyHandle(handle, name, signal);
      return closing(batched(ended(file)), file.close);
    } finally {
      held.close();
    }
  });
}

/** Walks over a tree and gives its tar, part by part. */
class TreeArchive {
  readonly #descent: Descent;
  readonly #shown: string;
  readonly #skips: boolean;
  readonly #signal: AbortSignal | undefined;
  /** What is left to do in the directories on the way, the deepest last. */
  readonly #levels: { path: Buffer; entries: Dirent<Buffer>[]; next: number }[] = [];

  constructor(descent: Descent, shown: string, skips: boolean, signal: AbortSignal | undefined) {
    this.#descent = descent;
    this.#shown = shown;
    this.#skips = skips;
    this.#signal = signal;
  }

  close(): void {
    this.#descent.close();
  }

  async *parts(): AsyncGenerator<Buffer> {
    try {
      await this.#list(NOTHING);
      for (let level = this.#levels.at(-1); level; level = this.#levels.at(-1)) {
        const { path, entries, next } = level;
        const found = entries.findIndex((entry, at) => at >= next && entry.isDirectory());
        const end = found < 0 ? entries.length : found;
        level.next = end + 1;
        yield* this.#run(path, entries.slice(next, end));
        const directory = entries[end];
        if (directory) yield* await this.#enter(directory.name, Buffer.concat([path, directory.name]));
        else await this.#leave();
      }
      yield TAR_END;
    } finally {
      this.close();
    }
  }

  /** What is no directory, some of it opened and read ahead of its turn. */
  async *#run(path: Buffer, entries: Dirent<Buffer>[]): AsyncGenerator<Buffer> {
    const ahead: Promise<ReadyEntry | null>[] = [];
    let next = 0;
    try {
      while (ahead.length > 0 || next < entries.length) {
        this.#signal?.throwIfAborted();
        for (; ahead.length < AHEAD && next < entries.length; next++) ahead.push(this.#ready(path, entries[next] as Dirent<Buffer>));
        const ready = await ahead[0];
        if (ready) yield* ready.parts;
        void ahead.shift();
      }
    } finally {
      for (const left of await Promise.allSettled(ahead)) if (left.status === 'fulfilled') await left.value?.close();
    }
  }

  #ready(path: Buffer, entry: Dirent<Buffer>): Promise<ReadyEntry | null> {
    const name = Buffer.concat([path, entry.name]);
    const { here } = this.#descent;
    const at = here.at(entry.name);
    const ready = this.#present(name, async () => {
      if (entry.isSymbolicLink()) return await readyLink(at, name);
      return entry.isFile() ? await readyFile(at, name, this.#signal) : null;
    }).catch(async (error) => ({ parts: [await this.#leftOut(error, here, path, name)], close: async () => {} }));
    ready.catch(() => {}); // told when its turn comes
    return ready;
  }

  async #enter(name: Buffer, path: Buffer): Promise<Buffer[]> {
    const header = await this.#present(path, async () => {
      await this.#descent.enter(name);
      return directoryHeader(await this.#descent.here.stat(), path);
    }).catch((error) => this.#leftOut(error, this.#descent.here, path.subarray(0, path.length - name.length), path));
    if (header === null || this.#descent.depth === this.#levels.length) return header ? [header] : [];
    try {
      await this.#list(Buffer.concat([path, SLASH]));
      return [header];
    } catch (error) {
      const told = await this.#leftOut(error, this.#descent.here, path, path);
      await this.#descent.leave();
      return [told];
    }
  }

  /** What stands for something that may not be read, unless that is to fail. */
  async #leftOut(error: unknown, here: Held, directory: Buffer, path: Buffer): Promise<Buffer> {
    if (!this.#skips || !(error instanceof GatewayError) || !UNREADABLE.has(error.code)) throw error;
    const name = directory.at(-1) === 0x2f ? directory.subarray(0, -1) : directory;
    return leftOutHeader(await here.stat(), name.length > 0 ? name : DOT, error.code, path);
  }

  async #list(path: Buffer): Promise<void> {
    try {
      const entries = await directoryEntries(this.#descent.here.path);
      this.#levels.push({ path, entries: entries.sort((a, b) => Buffer.compare(a.name, b.name)), next: 0 });
    } catch (error) {
      throw fileError(error, path.length > 0 ? showPath(path) : this.#shown);
    }
  }

  async #leave(): Promise<void> {
    this.#levels.pop();
    try {
      await this.#descent.leave();
    } catch (error) {
      throw fileError(error, this.#shown);
    }
  }

  /** Null for what has vanished. */
  async #present<T>(path: Buffer, act: () => Promise<T>): Promise<T | null> {
    try {
      return await act();
    } catch (error) {
      if (VANISHED.has(errnoOf(error) ?? '')) return null;
      throw fileError(error, showPath(path));
    }
  }
}

async function* ended({ parts }: ReadyEntry): AsyncGenerator<Buffer> {
  yield* parts;
  yield TAR_END;
}

/** Puts small parts together, so that each turn gives enough to be worth one. */
async function* batched(parts: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array, void> {
  let batch: Buffer[] = [];
  let size = 0;
  for await (const part of parts) {
    batch.push(part);
    size += part.length;
    if (size < BATCH_BYTES) continue;
    yield batch.length === 1 ? (batch[0] as Buffer) : Buffer.concat(batch);
    batch = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(batch);
}
