import { concat } from './concat.js';

const LF = 0x0a;
const CR = 0x0d;

/** Gathers pieces of a text until lines of it are whole, so that each byte is looked at and copied once. */
export class WholeLines {
  #held: Uint8Array[] = [];
  #held_bytes = 0;

  /** The line that is not whole yet, in bytes. */
  get held_bytes(): number {
    return this.#held_bytes;
  }

  /** All lines that are whole now, with their ends (LF or CR); nothing when none is. */
  take(piece: Uint8Array): Uint8Array {
    const last_lf = piece.lastIndexOf(LF);
    const end = last_lf + 1 + piece.subarray(last_lf + 1).lastIndexOf(CR) + 1;
    if (end === 0) {
      this.#hold(piece);
      return new Uint8Array(0);
    }
    this.#hold(piece.subarray(0, end));
    const lines = concat(this.#held);
    this.#held = [];
    this.#held_bytes = 0;
    if (end < piece.length) this.#hold(piece.subarray(end));
    return lines;
  }

  #hold(piece: Uint8Array): void {
    this.#held.push(piece);
    this.#held_bytes += piece.length;
  }
}
