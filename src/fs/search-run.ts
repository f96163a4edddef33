import { Worker } from 'node:worker_threads';
import { GatewayError } from '../protocol/error.js';
import type { SearchEnd, SearchLine } from '../protocol/search.js';
import { errnoOf } from './file-error.js';
import type { SearchCounts, SearchMessage, SearchTask } from './search-messages.js';

/** The thread as built, from the sources and from the build alike. */
const THREAD = new URL('../../dist/fs/search-worker.js', import.meta.url);

/** A search that does not see that its time is up, in one long line, is ended so many milliseconds later. */
const OVERTIME_MS = 1_000;

/** Memory of one search, in MiB: names of the largest directories, and the automaton of its pattern. */
const MEMORY_MIB = 512;

/** What a thread fails with that cannot be begun, or cannot load what it runs. */
const NOTHING_LEFT = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ERR_WORKER_INIT_FAILED', 'ERR_INVALID_PACKAGE_CONFIG']);

/** Of a search that has not begun. */
export const NOTHING_YET: SearchCounts = { matches: 0, files: 0, skipped: { binary: 0, too_large: 0, unreadable: 0 } };

/**
 * One search on a thread of its own: whatever its pattern, the program goes on. It ends with the tree, with its time, with its
 * reader or its caller, and then holds nothing any more.
 */
export class SearchRun implements AsyncIterable<SearchLine[]> {
  /** Resolves when the thread is gone and nothing is held. */
  readonly gone: Promise<void>;
  readonly #worker: Worker;
  readonly #ahead: Int32Array;
  readonly #began_at: number;
  readonly #overtime: NodeJS.Timeout;
  #lines: SearchLine[][] = [];
  #counts = NOTHING_YET;
  #ended = false;
  #failure: unknown = null;
  #wake: () => void = () => {};
  #ready: { resolve(): void; reject(error: unknown): void } | null = null;

  private constructor(task: SearchTask, began_at: number) {
    this.#ahead = new Int32Array(task.ahead);
    this.#began_at = began_at;
    this.#worker = thread(task);
    this.#worker.on('message', (message: SearchMessage) => this.#hear(message));
    this.#worker.on('error', (error) => this.#fail(error));
    this.gone = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    void this.gone.then(() => this.#settle(null));
    this.#overtime = setTimeout(() => this.#settle('timeout'), Math.max(0, task.deadline_at - Date.now()) + OVERTIME_MS);
  }

  /**
   * Begins a search.
   * @param began_at when it was asked for, in milliseconds since 1970
   * @throws {GatewayError} `invalid_pattern`, `resource_exhausted`
   */
  static async start(task: SearchTask, began_at: number, signal: AbortSignal | undefined): Promise<SearchRun> {
    signal?.throwIfAborted();
    const run = new SearchRun(task, began_at);
    const abort = () => run.#end(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    void run.gone.then(() => signal?.removeEventListener('abort', abort));
    await new Promise<void>((resolve, reject) => {
      run.#ready = { resolve, reject };
    });
    return run;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SearchLine[]> {
    try {
      for (;;) {
        for (let lines = this.#lines.shift(); lines; lines = this.#lines.shift()) {
          Atomics.sub(this.#ahead, 0, 1);
          Atomics.notify(this.#ahead, 0);
          yield lines;
        }
        if (this.#failure !== null) throw this.#failure;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.#end(null);
      await this.gone;
    }
  }

  #hear(message: SearchMessage): void {
    if (this.#ended) return;
    switch (message.kind) {
      case 'ready':
        this.#ready?.resolve();
        break;
      case 'refused':
        this.#end(refusal(message));
        break;
      case 'batch':
      case 'end':
        this.#counts = message.counts;
        if (message.lines.length > 0) this.#lines.push(message.lines);
        if (message.kind === 'end') this.#settle(message.reason);
        this.#wake();
        break;
    }
  }

  #fail(error: Error & { code?: string }): void {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#settle('memory');
    else this.#end(threadError(error));
  }

  /** Tells the end, unless there was one; before the search was ready it means that the pattern is too much. */
  #settle(reason: SearchEnd['reason']): void {
    if (this.#ended) return;
    this.#lines.push([searchEnd(reason, this.#counts, this.#began_at)]);
    this.#ready?.reject(tooMuch());
    this.#end(null);
  }

  #end(failure: unknown): void {
    clearTimeout(this.#overtime);
    void this.#worker.terminate();
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = failure;
    if (failure !== null) this.#ready?.reject(failure);
    this.#wake();
  }
}

function thread(workerData: SearchTask): Worker {
  try {
    return new Worker(THREAD, { workerData, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB }, execArgv: [] });
  } catch (error) {
    throw threadError(error);
  }
}

function threadError(error: unknown): unknown {
  if (!NOTHING_LEFT.has(errnoOf(error) ?? '')) return error;
  const detail = 'The machine has no descriptor, thread or memory left for a search: try again later.';
  return new GatewayError('resource_exhausted', detail, {}, { cause: error });
}

/** The last line of a search that began at that time, in milliseconds since 1970. */
export function searchEnd(reason: SearchEnd['reason'], counts: SearchCounts, began_at: number): SearchEnd {
  return { done: true, truncated: reason !== null, reason, ...counts, elapsed_ms: Math.max(0, Date.now() - began_at) };
}

function refusal({ field, detail }: { field: string; detail: string }): GatewayError {
  return new GatewayError('invalid_pattern', `${field} cannot be used as a pattern: ${detail}.`, { field });
}

function tooMuch(): GatewayError {
  return new GatewayError('invalid_pattern', 'text takes too much time or memory to prepare: make the pattern smaller.', { field: 'text' });
}
