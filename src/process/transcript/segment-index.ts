/** Bytes of a segment between two places that are remembered: what is read in vain at most, beside one record. */
const STEP_BYTES = 64 * 1024;

/** Where in a segment an event is to be looked for: a place every 64 KiB. */
export class SegmentIndex {
  readonly #seqs: number[] = [];
  readonly #offsets: number[] = [];

  /** Takes the next record. @param seq its first event */
  push(seq: number, offset: number): void {
    const last = this.#offsets.at(-1);
    if (last !== undefined && offset - last < STEP_BYTES) return;
    this.#seqs.push(seq);
    this.#offsets.push(offset);
  }

  /** The offset of a record that begins at or before `seq`. */
  offsetOf(seq: number): number {
    let low = 0;
    let high = this.#seqs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#seqs[middle] as number) <= seq) low = middle;
      else high = middle - 1;
    }
    return this.#offsets[low] ?? 0;
  }
}
