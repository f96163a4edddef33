/** Output that came so close together counts as printed at once, in milliseconds. */
const TICK_MS = 5;

/** Moments that are remembered, 16 bytes each. When there are twice as many every other one is forgotten: then times are told less closely. */
const MOST_MOMENTS = 16_384;

/** When the events of a process were printed, in milliseconds since the start, which no change of the clock moves. */
export class OutputTimes {
  readonly #started_at = performance.now();
  /** The last event of each moment, and when it was. */
  #seqs: number[] = [];
  #at_ms: number[] = [];

  /** Milliseconds since the start. */
  now(): number {
    return Math.round(performance.now() - this.#started_at);
  }

  /** The next event was printed now. */
  mark(seq: number): void {
    const at_ms = this.now();
    const last = this.#at_ms.length - 1;
    if (last >= 0 && at_ms - (this.#at_ms[last] as number) < TICK_MS) {
      this.#seqs[last] = seq;
      return;
    }
    this.#seqs.push(seq);
    this.#at_ms.push(at_ms);
    if (this.#seqs.length >= 2 * MOST_MOMENTS) this.#thin();
  }

  /** When an event was printed; of one that is not known, the moment after it. */
  of(seq: number): number {
    let low = 0;
    let high = this.#seqs.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#seqs[middle] as number) < seq) low = middle + 1;
      else high = middle;
    }
    return this.#at_ms[low] ?? 0;
  }

  #thin(): void {
    const every_other = (_: number, i: number) => i % 2 === 1;
    this.#seqs = this.#seqs.filter(every_other);
    this.#at_ms = this.#at_ms.filter(every_other);
  }
}
