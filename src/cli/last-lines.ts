import type { OutputEvent, ProcessEvent } from '../protocol/output.js';

const LF = 10;

/** The last lines of what was printed, both streams as one text. */
export class LastLines {
  readonly #count: number;
  readonly #events: { event: OutputEvent; breaks: number }[] = [];
  #breaks = 0;

  /** @param count lines to keep */
  constructor(count: number) {
    this.#count = count;
  }

  /** Takes what comes next; what cannot be among the last lines any more is let go. */
  take(event: ProcessEvent): void {
    if (event.event !== 'output') return;
    const breaks = event.chunk.reduce((sum, byte) => sum + Number(byte === LF), 0);
    this.#events.push({ event, breaks });
    this.#breaks += breaks;
    // One break more than lines: the one at the very end closes the last line.
    while (this.#events[0] && this.#breaks - this.#events[0].breaks > this.#count) this.#breaks -= this.#events.shift()?.breaks ?? 0;
  }

  /** The output that makes up the last lines. */
  events(): OutputEvent[] {
    const events = this.#events.map(({ event }) => event);
    const endsLine = events.at(-1)?.chunk.at(-1) === LF;
    let excess = this.#breaks - this.#count + (endsLine ? 0 : 1);
    if (this.#count === 0) return [];
    while (events[0] && excess > 0) {
      const [first] = events;
      const at = first.chunk.indexOf(LF);
      if (at < 0 || at === first.chunk.length - 1) events.shift();
      else events[0] = { ...first, chunk: first.chunk.subarray(at + 1) };
      if (at >= 0) excess--;
    }
    return events;
  }
}
