import type { EventLog } from './event-log.js';

/** How long one slow follower may hold a program back before it is left behind, in milliseconds. */
const PATIENCE_MS = 1_000;

/** How long a program that was just started waits for its first follower, in milliseconds: a slow round trip. */
const FIRST_PATIENCE_MS = 500;

/** A follower, as the pacer sees it. */
export interface PacedReader {
  /** Output it has passed, in bytes since the start. */
  position: number;
  /** Whether the program waits for it; the pacer takes this away from a slow one and gives it back at the end. */
  paces: boolean;
  /** Whether the program waits for it for as long as it takes. */
  readonly patient: boolean;
}

/** What can be made to stand still: the reading side of a child. */
interface Source {
  pause(): void;
  resume(): void;
}

/**
 * Lets live followers keep up. Any program prints faster than a socket carries, so without this every follower of a
 * fast one would meet gaps. While a follower that had caught up is half of the retention behind, output is not read;
 * the program waits at its full pipe. A follower that does not come close again within a second is slow: the program
 * goes on without it, until it has caught up by itself. A program that was just started waits in the same way, at half
 * of its retention and for 500 ms at most, for whoever started it to follow. For a patient follower it waits without end.
 * Otherwise nothing is ever held back.
 */
export class Pacer {
  readonly #log: EventLog;
  readonly #source: Source;
  readonly #high_bytes: number;
  readonly #low_bytes: number;
  readonly #readers = new Set<PacedReader>();
  #paused = false;
  #patience: NodeJS.Timeout | null = null;
  /** Stands for the first follower until it comes. */
  #expected: PacedReader | null = { position: 0, paces: true, patient: false };

  constructor(log: EventLog, source: Source) {
    this.#log = log;
    this.#source = source;
    this.#high_bytes = log.retain_bytes / 2;
    this.#low_bytes = log.retain_bytes / 4;
    if (this.#expected) this.#readers.add(this.#expected);
  }

  /** How many follow, with the one that is expected. */
  get readers(): number {
    return this.#readers.size;
  }

  add(reader: PacedReader): void {
    this.#readers.add(reader);
    this.expectNobody();
  }

  /** The first reader is here, or none will come. */
  expectNobody(): void {
    const expected = this.#expected;
    this.#expected = null;
    if (expected) this.delete(expected);
  }

  delete(reader: PacedReader): void {
    this.#readers.delete(reader);
    this.advanced();
  }

  /** To be called after every chunk. */
  appended(): void {
    if (this.#paused || this.#readers.size === 0 || !this.#anyBehind(this.#high_bytes)) return;
    this.#source.pause();
    this.#paused = true;
    // Where the gateway itself was held up, readers have one more turn of the loop to tell that they moved.
    const over = () => setImmediate(() => this.#patience === patience && this.#leaveBehind());
    const patience = setTimeout(over, this.#expected ? FIRST_PATIENCE_MS : PATIENCE_MS);
    this.#patience = patience;
  }

  /** To be called when a reader has moved. */
  advanced(reader?: PacedReader): void {
    if (reader && !reader.paces && reader.position === this.#log.total_bytes) reader.paces = true;
    if (this.#paused && !this.#anyBehind(this.#low_bytes)) this.#resume();
  }

  /** Lets go of the timer. */
  close(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
    this.#readers.clear();
  }

  #leaveBehind(): void {
    this.expectNobody();
    for (const reader of this.#readers) {
      if (!reader.patient && this.#log.total_bytes - reader.position > this.#low_bytes) reader.paces = false;
    }
    if (this.#paused && !this.#anyBehind(this.#low_bytes)) this.#resume();
  }

  #resume(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
    this.#paused = false;
    this.#source.resume();
  }

  #anyBehind(bytes: number): boolean {
    for (const reader of this.#readers) {
      if (reader.paces && this.#log.total_bytes - reader.position > bytes) return true;
    }
    return false;
  }
}
