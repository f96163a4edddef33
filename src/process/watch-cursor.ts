import { seqOf } from '../protocol/event-seq.js';
import type { ChangeEvent, WatchQuery } from '../protocol/index.js';
import type { Change } from './change-log.js';
import { takeTurn } from './fair-turn.js';
import type { HostedProcess } from './hosted-process.js';
import { type LabelMatch, labelMatch } from './labels.js';
import type { OutputTap, ProcessHandler } from './process-handler.js';
import type { Waiter } from './waiters.js';

/** Output of one process in one batch, in bytes, so that a chatty one does not keep the others waiting. */
const BATCH_BYTES = 64 * 1024;

/** Output of all processes in one batch, in bytes, beyond which the rest waits for the next. */
const MOST_BYTES = 256 * 1024;

/**
 * A watcher of all processes at its own pace: a place in the changes, and with output a place in each process. One
 * that falls too far behind gets a new snapshot instead of a queue; its places in the output stay.
 */
export class WatchCursor implements AsyncIterable<ChangeEvent[]> {
  readonly #handler: ProcessHandler;
  readonly #matches: LabelMatch;
  readonly #output: boolean;
  /** Output told so far, by process. */
  readonly #places = new Map<HostedProcess, number>();
  readonly #dirty = new Set<HostedProcess>();
  #id: number | null = null;
  /** With output: all of it up to this moment was told. Null: nothing was seen before. */
  #seen: number | null = null;
  #open = true;
  #waiter: Waiter | null = null;

  constructor(handler: ProcessHandler, { label, output = false, after_id }: WatchQuery, signal?: AbortSignal) {
    this.#handler = handler;
    this.#matches = labelMatch(label);
    this.#output = output;
    if (output && after_id !== undefined) this.#seen = handler.toldOf(after_id) ? after_id : 0; // of an earlier gateway: all is told again
    handler.changes.watchers++;
    if (output) handler.taps.add(this.#tap);
    if (signal?.aborted) this.#close();
    signal?.addEventListener('abort', () => this.#close(), { once: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<ChangeEvent[], undefined> {
    return { next: () => this.#next(), return: () => Promise.resolve(this.#close()) };
  }

  async #next(): Promise<IteratorResult<ChangeEvent[], undefined>> {
    while (this.#open) {
      await new Promise<void>(takeTurn);
      if (!this.#open) break;
      const batch = await this.#take().catch((error: unknown) => {
        this.#close(); // who meets an error does not ask again
        throw error;
      });
      if (!this.#open) break;
      if (batch.length > 0) return { done: false, value: batch };
      if (this.#dirty.size > 0) continue; // what was passed had no output
      await new Promise<void>((resolve) => {
        this.#waiter = { wake: resolve };
        this.#handler.changes.waiters.add(this.#waiter);
      });
    }
    return this.#close();
  }

  async #take(): Promise<ChangeEvent[]> {
    const changes = this.#id === null ? null : this.#handler.changes.after(this.#id);
    if (changes === null) return [this.#snapshot()];
    const batch: ChangeEvent[] = [];
    for (const change of changes) {
      if (!(await this.#takeChange(change, batch))) break;
      this.#id = change.id;
    }
    let bytes = 0;
    for (const process of [...this.#dirty]) {
      bytes += await this.#takeOutput(process, batch);
      if (bytes >= MOST_BYTES) break;
    }
    return this.#output ? this.#resumable(batch) : batch;
  }

  #snapshot(): ChangeEvent {
    this.#id = this.#handler.changes.last_id;
    const matching = [...this.#handler.processes].filter(({ request }) => this.#matches(request.labels));
    if (this.#output) this.#place(new Set(matching));
    return { event: 'snapshot', id: this.#seen ?? this.#id, processes: matching.map((process) => process.info()) };
  }

  /** Finds the place in the output of each process that has none yet; forgets those that are gone. */
  #place(matching: Set<HostedProcess>): void {
    for (const process of this.#places.keys()) if (!matching.has(process)) this.#forget(process);
    for (const process of matching) {
      const last_seq = process.log.next_seq - 1;
      const place = this.#places.get(process) ?? (this.#seen === null ? last_seq : process.moments.seqAt(this.#seen));
      this.#places.set(process, place);
      if (place < last_seq) this.#dirty.add(process);
    }
    this.#seen ??= this.#handler.moment;
  }

  /** Whether the change was told: all output of a process that closes comes before the word that it did. */
  async #takeChange(change: Change, batch: ChangeEvent[]): Promise<boolean> {
    if (change.event === 'snapshot') return true;
    if (change.event === 'removed') {
      const process = this.#placed(change.process_id);
      if (process) this.#forget(process);
    } else {
      if (!this.#matches(change.process.labels)) return true;
      const process = change.event === 'started' ? undefined : this.#placed(change.process.process_id);
      if (process) await this.#takeOutput(process, batch);
      if (process && change.event === 'closed' && this.#dirty.has(process)) return false;
    }
    batch.push(change);
    return true;
  }

  #placed(process_id: string): HostedProcess | undefined {
    for (const process of this.#places.keys()) if (process.process_id === process_id) return process;
    return undefined;
  }

  #forget(process: HostedProcess): void {
    this.#places.delete(process);
    this.#dirty.delete(process);
  }

  /** Each event carries how far all output was told before it, the last how far after it: wherever a reader is cut off, nothing is passed over. */
  #resumable(batch: ChangeEvent[]): ChangeEvent[] {
    const before = this.#seen ?? 0;
    const behind = [...this.#dirty].map((process) => process.moments.momentOf(this.#places.get(process) ?? 0));
    this.#seen = Math.max(before, Math.min(this.#handler.moment, ...behind));
    return batch.map((change, i) => ({ ...change, id: i === batch.length - 1 ? (this.#seen as number) : before }));
  }

  /** Returns the size in bytes. A process that has more to tell stands at the end of the line. */
  async #takeOutput(process: HostedProcess, batch: ChangeEvent[]): Promise<number> {
    const { process_id, log } = process;
    let place = this.#places.get(process) ?? 0;
    let bytes = 0;
    const events = log.archived(place) ? await log.fetch(place, BATCH_BYTES) : log.batch(place, BATCH_BYTES);
    for (const event of events) {
      place = seqOf(event);
      if (event.event === 'output') bytes += event.chunk.length;
      if (event.event === 'output' || event.event === 'gap') batch.push({ ...event, id: 0, process_id });
    }
    this.#places.set(process, place);
    this.#dirty.delete(process);
    if (place < log.next_seq - 1) this.#dirty.add(process);
    return bytes;
  }

  readonly #tap: OutputTap = (process) => {
    if (this.#id === null || !this.#matches(process.request.labels)) return; // the snapshot comes first
    if (!this.#places.has(process)) this.#places.set(process, 0);
    this.#dirty.add(process);
    this.#handler.changes.waiters.wake();
  };

  #close(): { done: true; value: undefined } {
    if (this.#open) {
      this.#open = false;
      this.#handler.changes.watchers--;
      this.#handler.taps.delete(this.#tap);
      if (this.#waiter) {
        this.#handler.changes.waiters.delete(this.#waiter);
        this.#waiter.wake();
      }
    }
    return { done: true, value: undefined };
  }
}
