import { closeSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { DEFAULT_SEARCH_MATCHES, MAX_SEARCH_FILE_BYTES } from '../protocol/limits.js';
import type { SearchEnd, SearchMatch, SearchQuery } from '../protocol/search.js';
import { wireText } from './path-bytes.js';
import { FileSearch } from './search-file.js';
import { IgnoreRules } from './search-ignore.js';
import { type FoundLine, type LineFinder, lineFinder } from './search-lines.js';
import { BATCHES_AHEAD, type SearchCounts, type SearchMessage, type SearchTask } from './search-messages.js';
import { PathPattern } from './search-pattern.js';
import { openRegular, type TreeEntry, TreeWalk } from './search-tree.js';

/** A batch goes out when it holds so many matches... */
const BATCH_MATCHES = 64;

/** ...or is so many milliseconds old. */
const BATCH_MS = 50;

/** Ends a search from within. */
class Ended extends Error {
  readonly reason: SearchEnd['reason'];

  constructor(reason: SearchEnd['reason']) {
    super('ended');
    this.reason = reason;
  }
}

/** The thread of one search: it may block and compute as long as its time lasts, and is ended from outside where it does not stop. */
class Search {
  readonly #task: SearchTask;
  readonly #port: MessagePort;
  readonly #ahead: Int32Array;
  readonly #globs: PathPattern[];
  readonly #files: FileSearch | null;
  readonly #walk: TreeWalk;
  readonly #skipped = { binary: 0, too_large: 0, unreadable: 0 };
  #files_seen = 0;
  #matches = 0;
  #batch: SearchMatch[] = [];
  #sent_at = Date.now();

  constructor(task: SearchTask, globs: PathPattern[], finder: LineFinder | null, port: MessagePort) {
    this.#task = task;
    this.#port = port;
    this.#ahead = new Int32Array(task.ahead);
    this.#globs = globs;
    this.#files = finder && new FileSearch(finder);
    this.#walk = new TreeWalk(task.query.gitignore ?? false);
  }

  run(): void {
    let reason: SearchEnd['reason'] = null;
    try {
      for (const entry of this.#entries()) this.#look(entry);
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
      reason = error.reason;
    }
    this.#tell({ kind: 'end', lines: this.#batch, counts: this.#counts(), reason });
  }

  #entries(): Iterable<TreeEntry> {
    const { at, file_name, rules_above } = this.#task;
    if (file_name !== null) {
      const path = Buffer.from(file_name);
      return [{ path, shown: path.toString(), name: path.toString(), type: 'file', at: Buffer.from(at) }];
    }
    const above = rules_above.reduce<IgnoreRules | null>((rules, { text, between }) => IgnoreRules.above(rules, text, between), null);
    return this.#walk.walk(Buffer.from(at), above);
  }

  #look(entry: TreeEntry): void {
    this.#pause();
    const { shown, name, type } = entry;
    if (this.#globs.length > 0 && !this.#globs.some((glob) => glob.fits(shown, name, type === 'directory'))) return;
    if (this.#files !== null) {
      if (type === 'file') this.#lookInto(entry, this.#files);
    } else {
      this.#files_seen++;
      this.#add(entry, null);
    }
  }

  #lookInto(entry: TreeEntry, files: FileSearch): void {
    const is_root = this.#task.file_name !== null;
    const file = openRegular(entry.at, is_root ? 0 : undefined);
    if (file === null) {
      this.#skipped.unreadable++;
      return;
    }
    try {
      if (file.size > MAX_SEARCH_FILE_BYTES) this.#skipped.too_large++;
      else if (file.size > 0 || is_root) this.#lines(entry, files, file.fd);
      else this.#files_seen++;
    } finally {
      closeSync(file.fd);
    }
  }

  #lines(entry: TreeEntry, files: FileSearch, fd: number): void {
    const lines = files.search(fd, () => this.#pause());
    for (let next = lines.next(); ; next = lines.next()) {
      if (!next.done) this.#add(entry, next.value);
      else if (next.value === null) return void this.#files_seen++;
      else return void this.#skipped[next.value]++;
    }
  }

  #add({ path, type }: TreeEntry, found: FoundLine | null): void {
    if (this.#matches === (this.#task.query.limit ?? DEFAULT_SEARCH_MATCHES)) throw new Ended('limit');
    const [shown, path_base64] = wireText(path);
    const { line = null, column = null, text = null, text_cut = false } = found ?? {};
    this.#batch.push({ path: shown, path_base64, type, line, column, text, text_cut });
    this.#matches++;
    this.#pause();
  }

  /** Sends what is due, and ends the search when its time is up. */
  #pause(): void {
    const now = Date.now();
    if (now >= this.#task.deadline_at) throw new Ended('timeout');
    if (this.#batch.length >= BATCH_MATCHES || (this.#batch.length > 0 && now - this.#sent_at >= BATCH_MS)) this.#send(now);
  }

  /** Waits while the reader is behind. */
  #send(now: number): void {
    for (let ahead = Atomics.load(this.#ahead, 0); ahead >= BATCHES_AHEAD; ahead = Atomics.load(this.#ahead, 0)) {
      const left = this.#task.deadline_at - Date.now();
      if (left <= 0 || Atomics.wait(this.#ahead, 0, ahead, left) === 'timed-out') throw new Ended('timeout');
    }
    Atomics.add(this.#ahead, 0, 1);
    this.#tell({ kind: 'batch', lines: this.#batch, counts: this.#counts() });
    this.#batch = [];
    this.#sent_at = now;
  }

  #counts(): SearchCounts {
    const unreadable = this.#skipped.unreadable + this.#walk.unreadable;
    return { matches: this.#matches, files: this.#files_seen, skipped: { ...this.#skipped, unreadable } };
  }

  #tell(message: SearchMessage): void {
    this.#port.postMessage(message);
  }
}

function globsOf({ glob = [] }: SearchQuery): PathPattern[] {
  return glob.map((text) => new PathPattern(text.replace(/^\.\//, '/'), true));
}

function finderOf({ text, regex = false, ignore_case = false }: SearchQuery): LineFinder | null {
  return text === undefined ? null : lineFinder(text, regex, ignore_case);
}

function prepared<T>(field: 'text' | 'glob', port: MessagePort, make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    port.postMessage({ kind: 'refused', field, detail: (error as Error).message } satisfies SearchMessage);
    return undefined;
  }
}

function main(port: MessagePort, task: SearchTask): void {
  const globs = prepared('glob', port, () => globsOf(task.query));
  const finder = globs && prepared('text', port, () => finderOf(task.query));
  if (globs === undefined || finder === undefined) return;
  port.postMessage({ kind: 'ready' } satisfies SearchMessage);
  new Search(task, globs, finder, port).run();
}

if (parentPort) main(parentPort, workerData as SearchTask);
