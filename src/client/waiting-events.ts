import type { ProcessEvent } from '../protocol/output.js';

/** Events that wait to be taken, and whoever waits for them. */
export class WaitingEvents {
  #events: ProcessEvent[] = [];
  #bytes = 0;
  #wake: (() => void) | null = null;

  /** Output that waits, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  push(event: ProcessEvent): void {
    this.#events.push(event);
    if (event.event === 'output') this.#bytes += event.chunk.length;
    this.wake();
  }

  /** All that wait; null when none does. */
  take(): ProcessEvent[] | null {
    if (this.#events.length === 0) return null;
    const taken = this.#events;
    this.#events = [];
    this.#bytes = 0;
    return taken;
  }

  /** Resolves at the next event, or at `wake`. */
  news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    this.#wake?.();
  }
}
