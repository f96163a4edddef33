import type { ChangeEvent } from '../protocol/index.js';
import { Waiters } from './waiters.js';

/** Changes that are kept for watchers to catch up with; a slower one gets a new snapshot. */
const KEPT = 1_024;

/** A change in the set of processes, numbered. */
export type Change = Exclude<ChangeEvent, { event: 'output' | 'gap' }>;
type Unnumbered<T> = T extends { id: number } ? Omit<T, 'id'> : never;

/** The latest changes in the set of processes. Nothing is recorded while nobody watches. */
export class ChangeLog {
  readonly waiters = new Waiters();
  #changes: Change[] = [];
  watchers = 0;
  last_id = 0;

  append(make: () => Unnumbered<Change>): void {
    this.last_id++;
    if (this.watchers === 0) {
      this.#changes = []; // those kept follow one another
      return;
    }
    this.#changes.push({ ...make(), id: this.last_id } as Change);
    if (this.#changes.length > 2 * KEPT) this.#changes = this.#changes.slice(-KEPT);
    this.waiters.wake();
  }

  /** The changes after `id`, or null when some of them are gone. */
  after(id: number): Change[] | null {
    const first_id = this.#changes[0]?.id ?? this.last_id + 1;
    if (id + 1 < first_id && id < this.last_id) return null;
    return this.#changes.slice(Math.max(0, id + 1 - first_id));
  }
}
