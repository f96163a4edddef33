/** Output that came so close together counts as printed at once, in milliseconds. */
const TICK_MS = 5;

/** When the events were printed that are not written yet, in milliseconds since the start, which no change of the clock moves. */
export class PrintTimes {
  readonly #started_at = performance.now();
  #ticks: { last_seq: number; at_ms: number }[] = [];

  /** All up to this event had been printed now. */
  mark(last_seq: number): void {
    const at_ms = Math.round(performance.now() - this.#started_at);
    const last = this.#ticks.at(-1);
    if (last && at_ms - last.at_ms < TICK_MS) last.last_seq = last_seq;
    else if (last_seq > (last?.last_seq ?? 0)) this.#ticks.push({ last_seq, at_ms });
  }

  /** When an event was printed, and the last that was printed with it. */
  of(seq: number): { last_seq: number; at_ms: number } {
    while (this.#ticks.length > 1 && (this.#ticks[0]?.last_seq ?? 0) < seq) this.#ticks.shift();
    return this.#ticks[0] ?? { last_seq: Number.POSITIVE_INFINITY, at_ms: 0 };
  }
}
