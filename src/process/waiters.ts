/** Who waits for something to happen. */
export interface Waiter {
  wake(): void;
}

/**
 * Those to be woken once, soon after something happened. All that happens in one turn of the event loop wakes
 * them together, after the loop has read what there was: readers get batches, and the cost is one immediate, not one
 * timer or promise a chunk.
 */
export class Waiters {
  #waiting = new Set<Waiter>();
  #scheduled = false;

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  add(waiter: Waiter): void {
    this.#waiting.add(waiter);
  }

  delete(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  /** Wakes all that wait, at the end of this turn. */
  wake(): void {
    if (this.#scheduled || this.#waiting.size === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const woken = this.#waiting;
      this.#waiting = new Set();
      for (const waiter of woken) waiter.wake();
    });
  }
}
