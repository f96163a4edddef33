import type { ChangeEvent, WatchQuery } from '../protocol/index.js';
import type { Change } from './change-log.js';
import { fairTurn } from './fair-turn.js';
import type { HostedProcess } from './hosted-process.js';
import { type LabelMatch, labelMatch } from './labels.js';
import type { OutputTap, ProcessHandler } from './process-handler.js';

/** Output of one process in one batch, in bytes, so that a chatty one does not keep the others waiting. */
const BATCH_BYTES = 64 * 1024;

/**
 * A watcher of all processes at its own pace: a place in the changes, and with output a place in each process. One
 * that falls too far behind gets a new snapshot instead of a queue.
 */
export class WatchCursor implements AsyncIterable<ChangeEvent[]> {
  readonly #handler: ProcessHandler;
  readonly #matches: LabelMatch;
  readonly #output: boolean;
  /** Output told so far, by process. */
  readonly #places = new Map<HostedProcess, number>();
  readonly #dirty = new Set<HostedProcess>();
  #id: number | null = null;
  #open = true;
  #wake: (() => void) | null = null;

  constructor(handler: ProcessHandler, { label, output = false }: WatchQuery, signal?: AbortSignal) {
    this.#handler = handler;
    this.#matches = labelMatch(label);
    this.#output = output;
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
      await fairTurn();
      if (!this.#open) break;
      const batch = this.#take();
      if (batch.length > 0) return { done: false, value: batch };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#handler.changes.waiters.add(resolve);
      });
    }
    return this.#close();
  }

  #take(): ChangeEvent[] {
    const changes = this.#id === null ? null : this.#handler.changes.after(this.#id);
    if (changes === null) return [this.#snapshot()];
    const batch: ChangeEvent[] = [];
    for (const process of [...this.#dirty]) this.#takeOutput(process, batch);
    for (const change of changes) {
      this.#id = change.id;
      this.#takeChange(change, batch);
    }
    return batch;
  }

  #snapshot(): ChangeEvent {
    this.#id = this.#handler.changes.last_id;
    this.#dirty.clear();
    this.#places.clear();
    const matching = [...this.#handler.processes].filter(({ request }) => this.#matches(request.labels));
    if (this.#output) for (const process of matching) this.#places.set(process, process.log.next_seq - 1);
    return { event: 'snapshot', id: this.#id, processes: matching.map((process) => process.info()) };
  }

  #takeChange(change: Change, batch: ChangeEvent[]): void {
    if (change.event === 'snapshot') return;
    if (change.event !== 'removed') {
      if (!this.#matches(change.process.labels)) return;
      if (change.event === 'closed') this.#takeRest(change.process.process_id, batch);
    }
    batch.push(change);
  }

  /** All output of a process that closes comes before the word that it did. */
  #takeRest(process_id: string, batch: ChangeEvent[]): void {
    for (const process of this.#places.keys()) {
      if (process.process_id !== process_id) continue;
      while (this.#dirty.has(process)) this.#takeOutput(process, batch);
      this.#places.delete(process);
      return;
    }
  }

  #takeOutput(process: HostedProcess, batch: ChangeEvent[]): void {
    const { process_id, log } = process;
    let place = this.#places.get(process) ?? 0;
    for (const event of log.batch(place, BATCH_BYTES)) {
      place = event.event === 'gap' ? event.to_seq : event.seq;
      if (event.event === 'output' || event.event === 'gap') batch.push({ ...event, process_id });
    }
    this.#places.set(process, place);
    if (place === log.next_seq - 1) this.#dirty.delete(process);
  }

  readonly #tap: OutputTap = (process) => {
    if (!this.#matches(process.request.labels)) return;
    if (!this.#places.has(process)) this.#places.set(process, 0);
    this.#dirty.add(process);
    this.#handler.changes.waiters.wake();
  };

  #close(): { done: true; value: undefined } {
    if (this.#open) {
      this.#open = false;
      this.#handler.changes.watchers--;
      this.#handler.taps.delete(this.#tap);
      if (this.#wake) {
        this.#handler.changes.waiters.delete(this.#wake);
        this.#wake();
      }
    }
    return { done: true, value: undefined };
  }
}
