import { randomBytes } from 'node:crypto';
import type { FileChange } from '../protocol/index.js';

type Unnumbered<T> = T extends { id: string } ? Omit<T, 'id'> : never;

/** An event before it has its id. */
export type NewChange = Unnumbered<FileChange>;

/** What an event takes besides the text of its path, in bytes. */
const EVENT_BYTES = 140;

/**
 * The latest events of one watch, numbered, up to a size in bytes. Readers are numbers: each asks for what comes after
 * its own. Ids name the log too, so that none is taken for that of another.
 */
export class WatchLog {
  readonly #name = randomBytes(8).readBigUInt64LE().toString(36).padStart(12, '0').slice(-12);
  readonly #max_bytes: number;
  readonly #waiters = new Set<() => void>();
  #events: FileChange[] = [];
  /** Events at the front of the list that are gone already. */
  #evicted = 0;
  #bytes = 0;
  /** The number of the last event so far; 0 before the first. */
  last_seq = 0;

  constructor(max_bytes: number) {
    this.#max_bytes = max_bytes;
  }

  /** Whether nothing will follow. */
  ended = false;

  id(seq: number): string {
    return `${this.#name}-${seq}`;
  }

  /** The number that an id stands for; null when it is none of this log. */
  seqOf(id: string): number | null {
    const seq = Number(id.slice(this.#name.length + 1));
    return id.startsWith(`${this.#name}-`) && seq <= this.last_seq ? seq : null;
  }

  append(changes: NewChange[]): void {
    if (changes.length === 0) return;
    for (const change of changes) {
      this.#events.push({ ...change, id: this.id(++this.last_seq) } as FileChange);
      this.#bytes += bytesOf(change);
    }
    this.#evict();
    this.#wake();
  }

  end(): void {
    this.ended = true;
    this.#wake();
  }

  /** At most `limit` events after a number; null when some of them are gone. */
  after(seq: number, limit: number): FileChange[] | null {
    const first_seq = this.last_seq - (this.#events.length - this.#evicted) + 1;
    if (seq + 1 < first_seq) return null;
    const from = this.#evicted + seq + 1 - first_seq;
    return this.#events.slice(from, from + limit);
  }

  /** Calls back once when there is more. The answer takes it back. */
  wait(waiter: () => void): () => void {
    this.#waiters.add(waiter);
    return () => this.#waiters.delete(waiter);
  }

  #wake(): void {
    const woken = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of woken) wake();
  }

  #evict(): void {
    const events = this.#events;
    while (this.#bytes > this.#max_bytes && this.#evicted < events.length - 1) this.#bytes -= bytesOf(events[this.#evicted++] as NewChange);
    if (this.#evicted < events.length / 2) return;
    this.#events = events.slice(this.#evicted);
    this.#evicted = 0;
  }
}

function bytesOf(change: NewChange): number {
  return 'path' in change ? EVENT_BYTES + 2 * change.path.length + (change.path_base64?.length ?? 0) : EVENT_BYTES;
}
