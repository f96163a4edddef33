import type { EventLog } from './event-log.js';

/** How long a program that was just started waits for its first follower, in milliseconds: a slow round trip. */
const FIRST_PATIENCE_MS = 500;

/** A follower, as the pacer sees it. */
export interface PacedReader {
  /** Output it has passed, in bytes since the start. */
  position: number;
  /** Whether the program waits for it; the pacer takes this away from a slow one and gives it back at the end. */
  paces: boolean;
  /** How long the program waits for it before it counts as slow, in milliseconds. */
  readonly hold_ms: number;
  /** How far behind it may be in any case, in bytes. Default 0. */
  readonly slack_bytes?: number;
}

/** What can be made to stand still: the reading side of a child. */
interface Source {
  pause(): void;
  resume(): void;
}

/**
 * Lets live followers keep up. Any program prints faster than a socket carries, so without this every follower of a
 * fast one would meet gaps. While a follower that had caught up is half of the retention behind, output is not read;
 * the program waits at its full pipe. A follower that does not come close again within three seconds, or the time that
 * it asked for, is slow: the program goes on without it, until it has caught up by itself. A program that was just started
 * waits in the same way, at half of its retention and for 500 ms at most, for whoever started it to follow. Otherwise
 * nothing is ever held back.
 */
export class Pacer {
  readonly #log: EventLog;
  readonly #source: Source;
  readonly #high_bytes: number;
  readonly #low_bytes: number;
  readonly #readers = new Set<PacedReader>();
  #patience: NodeJS.Timeout | null = null;
  /** Stands for the first follower until it comes. */
  #expected: PacedReader | null = { position: 0, paces: true, hold_ms: FIRST_PATIENCE_MS };

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
    this.join(reader);
    this.expectNobody();
  }

  /** Takes a reader that is not the one which is expected. */
  join(reader: PacedReader): void {
    this.#readers.add(reader);
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
    if (this.#patience || this.#readers.size === 0 || !this.#anyBehind(this.#high_bytes)) return;
    this.#source.pause();
    this.#wait(0);
  }

  /** To be called when a reader has moved. */
  advanced(reader?: PacedReader): void {
    if (reader && !reader.paces && reader.position === this.#log.total_bytes) reader.paces = true;
    if (this.#patience && !this.#anyBehind(this.#low_bytes)) this.#resume();
  }

  /** Lets go of the timer. */
  close(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
    this.#readers.clear();
  }

  /** Waits on for the least patient of those that are behind. @param waited_ms how long the program has waited */
  #wait(waited_ms: number): void {
    const hold_ms = Math.min(...this.#behind(this.#low_bytes).map((reader) => reader.hold_ms));
    // Where the gateway itself was held up, readers have one more turn of the loop to tell that they moved.
    const over = () => setImmediate(() => this.#patience === patience && this.#leaveBehind(hold_ms));
    const patience = setTimeout(over, hold_ms - waited_ms);
    this.#patience = patience;
  }

  #leaveBehind(waited_ms: number): void {
    if (waited_ms >= FIRST_PATIENCE_MS) this.expectNobody();
    const behind = this.#behind(this.#low_bytes);
    for (const reader of behind) if (reader.hold_ms <= waited_ms) reader.paces = false;
    if (behind.some((reader) => reader.paces)) this.#wait(waited_ms);
    else this.#resume();
  }

  #resume(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
    this.#source.resume();
  }

  #anyBehind(bytes: number): boolean {
    for (const reader of this.#readers) if (this.#isBehind(reader, bytes)) return true;
    return false;
  }

  #behind(bytes: number): PacedReader[] {
    return [...this.#readers].filter((reader) => this.#isBehind(reader, bytes));
  }

  #isBehind({ paces, position, slack_bytes = 0 }: PacedReader, bytes: number): boolean {
    return paces && this.#log.total_bytes - position > Math.max(bytes, slack_bytes);
  }
}
