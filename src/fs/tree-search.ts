import type { CallOptions } from '../protocol/exec-process.js';
import { type FilePath, GatewayError } from '../protocol/index.js';
import { DEFAULT_SEARCH_MS } from '../protocol/limits.js';
import type { SearchLine, SearchQuery } from '../protocol/search.js';
import type { FileRoot } from './file-root.js';
import type { Held } from './held-directory.js';
import { pathBytes, pathNames } from './path-bytes.js';
import { rulesAbove } from './search-above.js';
import { NOTHING_YET, SearchRun, searchEnd } from './search-run.js';
import { SearchSlots } from './search-slots.js';

/** Searches below a file root. */
export class TreeSearch {
  readonly #root: FileRoot;
  readonly #slots = new SearchSlots();

  constructor(root: FileRoot) {
    this.#root = root;
  }

  /** As `ExecutorFileSystem` has it. */
  async search(path: FilePath, query: SearchQuery, { signal }: CallOptions = {}): Promise<AsyncIterable<SearchLine[]>> {
    signal?.throwIfAborted();
    checkQuery(query);
    const began_at = Date.now();
    const { held, file_name } = await this.#hold(path);
    let release: (() => void) | null = null;
    try {
      release = await this.#slots.take(query.timeout_ms ?? DEFAULT_SEARCH_MS, signal);
      const run = release ? await this.#start(held, file_name, query, began_at, signal) : null;
      void (run?.gone ?? Promise.resolve()).then(() => {
        held.close();
        release?.();
      });
      return run ?? noTimeLeft(began_at);
    } catch (error) {
      held.close();
      release?.();
      throw error;
    }
  }

  /** A link at the end is followed; what it leads to is searched, and nothing else that links lead to. */
  async #hold(path: FilePath): Promise<{ held: Held; file_name: Buffer | null }> {
    return await this.#root.at(path, { links: 'follow' }, async (place) => {
      const { held, stats } = await place.hold();
      if (stats.isDirectory()) return { held, file_name: null };
      if (stats.isFile()) return { held, file_name: pathNames(pathBytes(path)).at(-1) ?? place.name };
      held.close();
      throw new GatewayError('not_regular_file', 'It is a fifo, socket or device: directories and regular files are searched.');
    });
  }

  async #start(
    held: Held,
    file_name: Buffer | null,
    query: SearchQuery,
    began_at: number,
    signal: AbortSignal | undefined,
  ): Promise<SearchRun> {
    const rules_above = query.gitignore && file_name === null ? await rulesAbove(this.#root, held) : [];
    const deadline_at = began_at + (query.timeout_ms ?? DEFAULT_SEARCH_MS);
    const task = { at: held.path, file_name, query, rules_above, deadline_at, ahead: new SharedArrayBuffer(4) };
    return await SearchRun.start(task, began_at, signal);
  }
}

async function* noTimeLeft(began_at: number): AsyncGenerator<SearchLine[]> {
  yield [searchEnd('timeout', NOTHING_YET, began_at)];
}

function checkQuery({ text, glob }: SearchQuery): void {
  if (text === undefined && (glob === undefined || glob.length === 0)) {
    throw new GatewayError('invalid_request', 'Neither text nor glob is given: say what a line has to hold, or what a path has to fit.', {
      field: 'text',
    });
  }
  if (text === undefined) return;
  if (/[\n\0]/.test(text) || !text.isWellFormed()) {
    const detail = 'text holds a line break, a NUL or half a surrogate pair: it is held against one line at a time.';
    throw new GatewayError('invalid_request', detail, { field: 'text' });
  }
}
