import type { FileChange } from '../protocol/index.js';
import type { SharedWatch } from './shared-watch.js';

/** Events in one batch. */
const BATCH = 1_000;

/** A reader of a watch at its own pace: a place in its log. One that falls too far behind is told so, and goes on from now. */
export class WatchReader implements AsyncIterable<FileChange[]> {
  readonly #watch: SharedWatch;
  #seq: number;
  /** What the reader begins with; null when it goes on where it was. */
  #first: FileChange | null;
  #open = true;
  #wake: (() => void) | null = null;

  /** @param after_id the last event it has seen; without one it begins now */
  constructor(watch: SharedWatch, after_id?: string, signal?: AbortSignal) {
    this.#watch = watch;
    const { log } = watch;
    const seq = after_id === undefined ? null : log.seqOf(after_id);
    this.#seq = seq ?? log.last_seq;
    this.#first = seq !== null ? null : after_id === undefined ? this.#ready() : this.#overflow('unknown_id');
    watch.enter();
    if (signal?.aborted) this.#close();
    signal?.addEventListener('abort', () => this.#close(), { once: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<FileChange[], undefined> {
    return { next: () => this.#next(), return: () => Promise.resolve(this.#close()) };
  }

  async #next(): Promise<IteratorResult<FileChange[], undefined>> {
    while (this.#open) {
      const batch = this.#take();
      if (batch.length > 0) return { done: false, value: batch };
      if (this.#watch.log.ended) break;
      await new Promise<void>((resolve) => {
        const forget = this.#watch.log.wait(resolve);
        this.#wake = () => {
          forget();
          resolve();
        };
      });
    }
    return this.#close();
  }

  #take(): FileChange[] {
    const first = this.#first;
    this.#first = null;
    if (first !== null) return [first];
    const { log } = this.#watch;
    const batch = log.after(this.#seq, BATCH);
    if (batch !== null) {
      this.#seq += batch.length;
      return batch;
    }
    this.#seq = log.last_seq;
    return [this.#overflow('evicted')];
  }

  #ready(): FileChange {
    const { log, directories, unreadable } = this.#watch;
    return { event: 'ready', id: log.id(this.#seq), directories, unreadable };
  }

  #overflow(reason: 'evicted' | 'unknown_id'): FileChange {
    return { event: 'overflow', id: this.#watch.log.id(this.#seq), reason };
  }

  #close(): { done: true; value: undefined } {
    if (this.#open) {
      this.#open = false;
      this.#watch.leave();
      this.#wake?.();
    }
    return { done: true, value: undefined };
  }
}
