/** Evicted events whose byte position is remembered: 8 bytes each, 1 MiB a process at most. */
const REMEMBERED = 65_536;

/**
 * How many output bytes came before each of the last 65,536 evicted events, so that a gap can say exactly what it
 * swallowed. A cursor older than that gets null instead of a guess.
 */
export class ByteHistory {
  #before: number[] = [];
  /** The seq of the next entry. */
  #next_seq = 1;

  /** Takes the next evicted event. A seq passed over, as that of `exited`, had no bytes of its own. */
  push(seq: number, bytes_before: number): void {
    while (this.#next_seq <= seq) {
      this.#before.push(bytes_before);
      this.#next_seq++;
    }
    if (this.#before.length > 2 * REMEMBERED) this.#before = this.#before.slice(-REMEMBERED);
  }

  /** Bytes of output before the event `seq`, or null when that is forgotten. */
  before(seq: number): number | null {
    if (seq <= 1) return 0;
    return this.#before[this.#before.length - (this.#next_seq - seq)] ?? null;
  }
}
