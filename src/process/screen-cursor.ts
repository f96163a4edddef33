import type { OutputEvent } from '../protocol/index.js';
import type { EventLog } from './event-log.js';
import type { HostedProcess } from './hosted-process.js';
import { ScreenTerminal, type Shown } from './screen-terminal.js';
import type { TerminalHistory } from './terminal-history.js';

/** Output that is replayed at most, in bytes: a screen is drawn by the latest of it. */
const REPLAYED_BYTES = 2 * 1024 * 1024;

/** How long it draws for one question, in milliseconds; then only the very last output is drawn, which is as much as this, and no longer. */
const DRAWING_MS = 1_000;
const LAST_BYTES = 16 * 1024;

/** Taken from the log at a time, in bytes. */
const BATCH_BYTES = 32 * 1024;

const [LF, ESC] = [0x0a, 0x1b];

/**
 * A reader that draws what it reads. It is a place in the log like any other and holds nothing up: when the output runs away
 * from it, it goes on with what is there.
 */
export class ScreenCursor {
  readonly #log: EventLog;
  readonly #history: TerminalHistory;
  #terminal: ScreenTerminal;
  #after_seq = 0;
  #complete = true;
  /** Whether the next chunk may begin in the middle of a sequence. */
  #astray = false;

  constructor({ log, terminal }: HostedProcess) {
    this.#log = log;
    this.#history = terminal as TerminalHistory;
    this.#terminal = new ScreenTerminal(this.#history.sizeAt(1));
  }

  /** Whether there is something to draw. */
  get behind(): boolean {
    return this.#after_seq < this.#log.next_seq - 1;
  }

  /** Draws what there is at this moment. */
  async catchUp(): Promise<void> {
    const target = this.#log.next_seq - 1;
    await this.#skipTo(REPLAYED_BYTES);
    // Of one that is on disk alone it is not known which output is the last of it.
    const drawing_ms = this.#log.retained_bytes === 0 ? Number.POSITIVE_INFINITY : DRAWING_MS;
    let ends_at = performance.now() + drawing_ms;
    for (let skipped = false; this.#after_seq < target; ) {
      await this.advance(ends_at);
      if (performance.now() <= ends_at) continue;
      if (skipped) await this.#missed(Math.max(target, this.#after_seq));
      else await this.#skipTo(LAST_BYTES);
      skipped = true;
      ends_at = performance.now() + drawing_ms;
    }
    this.#terminal.resize(this.#history.sizeAt(this.#log.next_seq));
  }

  /**
   * Draws one batch.
   * @param ends_at when to leave out the rest, as `performance.now()` tells the time
   */
  async advance(ends_at = performance.now() + DRAWING_MS): Promise<void> {
    const place = this.#after_seq;
    const events = this.#log.archived(place) ? await this.#log.fetch(place, BATCH_BYTES) : this.#log.batch(place, BATCH_BYTES);
    for (const event of events) {
      if (event.event === 'gap') {
        await this.#missed(event.to_seq);
        continue;
      }
      if (event.event === 'output') {
        this.#terminal.resize(this.#history.sizeAt(event.seq));
        await this.#draw(event, ends_at);
      }
      this.#after_seq = event.seq;
    }
  }

  show(paint: boolean): Shown & { paint: Uint8Array | null; next_seq: number; complete: boolean } {
    return {
      ...this.#terminal.show(),
      paint: paint ? this.#terminal.paint() : null,
      next_seq: this.#after_seq + 1,
      complete: this.#complete,
    };
  }

  async #draw({ seq, chunk }: OutputEvent, ends_at: number): Promise<void> {
    try {
      const whole = await this.#terminal.write(this.#astray ? fromSafePlace(chunk) : chunk, ends_at);
      this.#astray = false;
      if (!whole) await this.#missed(seq);
    } catch {
      // The terminal is not ours, and a program may print anything: what breaks it is left out.
      this.#terminal = new ScreenTerminal(this.#history.sizeAt(seq));
      await this.#missed(seq);
    }
  }

  /** Passes over all but the last of the output. */
  async #skipTo(bytes: number): Promise<void> {
    let low = Math.max(this.#after_seq, this.#log.first_seq - 1);
    if (this.#bytesAfter(low) <= bytes) return;
    let high = this.#log.next_seq - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#bytesAfter(middle) > bytes) low = middle + 1;
      else high = middle;
    }
    await this.#missed(low);
  }

  #bytesAfter(seq: number): number {
    return this.#log.total_bytes - (this.#log.bytesBefore(seq) ?? 0);
  }

  /** Goes on behind output that cannot be drawn. What was drawn stays: most of it is drawn over soon. */
  async #missed(to_seq: number): Promise<void> {
    this.#complete = false;
    this.#astray = true;
    this.#after_seq = to_seq;
    this.#terminal.resize(this.#history.sizeAt(to_seq + 1));
    await this.#terminal.setModes(this.#history.modesBefore(to_seq + 1));
  }
}

/** The chunk from its first line end or sequence on: what comes before may be the rest of one. */
function fromSafePlace(chunk: Uint8Array): Uint8Array {
  const places = [chunk.indexOf(LF), chunk.indexOf(ESC)].filter((at) => at >= 0);
  return places.length === 0 ? chunk : chunk.subarray(Math.min(...places));
}
