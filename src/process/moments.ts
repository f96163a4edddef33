import { randomInt } from 'node:crypto';

/** Events whose moment is remembered. */
const MOST = 512;

/**
 * Where the moments of a gateway begin: anywhere below 2^52. One of an earlier gateway is then not taken for one of this,
 * whatever the clock says, but for a chance of one in a million where billions of events came.
 */
export function anyMoment(): number {
  return randomInt(1, 2 ** 48) * 16;
}

/**
 * When the output events of one process came about, as numbers in the order of all output of all processes: the latest
 * exactly, older ones the more roughly the older they are.
 */
export class Moments {
  #moments: number[] = [];
  #seqs: number[] = [];

  push(moment: number, seq: number): void {
    this.#moments.push(moment);
    this.#seqs.push(seq);
    if (this.#seqs.length < MOST) return;
    const everySecond = (_: number, i: number) => i % 2 === 1;
    this.#moments = this.#moments.filter(everySecond);
    this.#seqs = this.#seqs.filter(everySecond);
  }

  /** The last event known to have come no later than `moment`; 0 when none is. */
  seqAt(moment: number): number {
    return this.#seqs[lastUpTo(this.#moments, moment)] ?? 0;
  }

  /** The latest moment known up to which nothing came after the event `seq`; 0 when none is. */
  momentOf(seq: number): number {
    return this.#moments[lastUpTo(this.#seqs, seq)] ?? 0;
  }
}

/** Index of the last of the rising numbers that is not above `value`; -1 when all are. */
function lastUpTo(numbers: number[], value: number): number {
  let low = -1;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] as number) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
