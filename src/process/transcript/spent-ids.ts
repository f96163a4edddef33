import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { jsonRecord, readRecord } from './record.js';
import { writeWhole } from './write-whole.js';

/** Ids of forgotten processes that are still known, so that a late retry does not run a command again. */
const SPENT_IDS = 100_000;

/** The ids of processes that are forgotten, the latest of them: in memory, and in a file where there is a data directory. */
export class SpentIds {
  readonly #path: string | null;
  readonly #ids: Set<string>;
  #waiting: string[] = [];
  #writing: Promise<void> | null = null;
  /** The file: how much of it is good, in bytes, and how many ids are in it. */
  #size = 0;
  #written = 0;

  /** @throws what the system says */
  constructor(path: string | null = null) {
    this.#path = path;
    this.#ids = new Set(path === null ? [] : readIds(path).slice(-SPENT_IDS));
    if (path === null) return;
    const bytes = bytesOf(this.#ids);
    writeWhole(path, bytes);
    this.#wrote(bytes.length, this.#ids.size);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /**
   * Knows it from now on. Resolves when it is on the device, which for many at a time takes little longer than for one.
   * @throws what the system says; then it is written with the next
   */
  async add(id: string): Promise<void> {
    this.#ids.add(id);
    for (const oldest of this.#ids) {
      if (this.#ids.size <= SPENT_IDS) break;
      this.#ids.delete(oldest);
    }
    if (this.#path === null) return;
    this.#waiting.push(id);
    await this.#writing?.catch(() => {});
    this.#writing ??= this.#write(this.#path).finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  async #write(path: string): Promise<void> {
    const count = this.#waiting.length;
    const anew = this.#written > 2 * SPENT_IDS;
    const bytes = bytesOf(anew ? this.#ids : this.#waiting);
    const from = anew ? 0 : this.#size;
    const file = await open(anew ? `${path}.new` : path, anew ? 'w' : 'r+', 0o600);
    try {
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at, from + at)).bytesWritten;
      await file.datasync();
    } finally {
      await file.close();
    }
    if (anew) await rename(`${path}.new`, path);
    this.#wrote(from + bytes.length, anew ? this.#ids.size : this.#written + count);
    this.#waiting.splice(0, count);
  }

  #wrote(size: number, count: number): void {
    this.#size = size;
    this.#written = count;
  }
}

function bytesOf(ids: Iterable<string>): Buffer {
  return Buffer.concat([...ids].flatMap((id) => jsonRecord({ id })));
}

/** All that can be read: an id behind a damaged one is spent as well. */
function readIds(path: string): string[] {
  const bytes = readBytes(path);
  const ids: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const found = readRecord(bytes, at);
    if (found && 'json' in found.content) ids.push(found.content.json.id as string);
    at = found?.end ?? at + 1;
  }
  return ids;
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
