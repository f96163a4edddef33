import { type ExecutorFileSystem, type FilePath, GatewayError } from '../protocol/index.js';
import type { FileAccess } from './machine.js';
import type { Outbox } from './outbox.js';
import { invalidRequest } from './rpc-error.js';

/** How often paths are looked at, in milliseconds. */
const LOOK_MS = 500;

/** Watches of one connection, and paths of one. */
const MOST_WATCHES = 64;
const MOST_PATHS = 256;

interface Watch {
  missing: FilePath[];
  present: FilePath | undefined;
  access: FileAccess;
}

/** Paths of one connection that are not there yet. Each watch tells once, when one of them is there, or what was present is not. */
export class MissingWatches {
  readonly #outbox: Outbox;
  readonly #gone: AbortSignal;
  readonly #watches = new Map<number, Watch>();
  #timer: NodeJS.Timeout | null = null;

  constructor(outbox: Outbox, gone: AbortSignal) {
    this.#outbox = outbox;
    this.#gone = gone;
    gone.addEventListener('abort', () => this.#stop(), { once: true });
  }

  /** Begins a watch, in the place of one with the same id. False when it would have nothing to wait for. */
  async add(id: number, missing: FilePath[], present: FilePath | undefined, access: FileAccess): Promise<boolean> {
    if (missing.length > MOST_PATHS) throw invalidRequest(`too many missing paths: limit is ${MOST_PATHS}`);
    const watch = { missing, present, access };
    this.#watches.delete(id);
    if (missing.length === 0 || (await this.#hasChanged(watch))) return false;
    if (this.#watches.size >= MOST_WATCHES) throw invalidRequest(`too many watches: limit is ${MOST_WATCHES}`);
    this.#watches.set(id, watch);
    this.#schedule();
    return true;
  }

  #schedule(): void {
    if (this.#gone.aborted || this.#watches.size === 0) return;
    this.#timer ??= setTimeout(() => void this.#look(), LOOK_MS);
  }

  #stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#watches.clear();
  }

  async #look(): Promise<void> {
    for (const [id, watch] of [...this.#watches]) {
      const changed = await this.#hasChanged(watch).catch(() => false);
      if (!changed || this.#watches.get(id) !== watch) continue;
      this.#watches.delete(id);
      this.#outbox.send({ method: 'fs/missingChanged', params: { watchId: id } });
    }
    this.#timer = null;
    this.#schedule();
  }

  async #hasChanged({ missing, present, access }: Watch): Promise<boolean> {
    return await access(async (files) => {
      if (present && !(await this.#exists(files, present))) return true;
      for (const path of missing) if (await this.#exists(files, path)) return true;
      return false;
    });
  }

  async #exists(files: ExecutorFileSystem, path: FilePath): Promise<boolean> {
    try {
      await files.getMetadata(path, { signal: this.#gone });
      return true;
    } catch (error) {
      if (error instanceof GatewayError) return false;
      throw error;
    }
  }
}
