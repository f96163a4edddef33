import { readFileSync } from 'node:fs';

/** The kernel's default of `fs.inotify.max_queued_events`. */
const DEFAULT_QUEUE = 16_384;

/**
 * Finds out that the system dropped signs of changes. inotify's queue holds so many of them, tells that it was full by
 * one more (inotify(7), IN_Q_OVERFLOW), and libuv does not pass that one on. But libuv empties the queue in one turn of
 * the event loop: a turn with as many signs as the queue holds says that it was full. Half of that counts already, because
 * not every sign in the queue is for us.
 */
export class HintMeter {
  readonly #alarm: () => void;
  readonly #limit = queueLength() / 2;
  #in_turn = 0;

  constructor(alarm: () => void) {
    this.#alarm = alarm;
  }

  count(): void {
    if (this.#in_turn++ === 0) setImmediate(() => this.#turn());
  }

  #turn(): void {
    const seen = this.#in_turn;
    this.#in_turn = 0;
    if (seen >= this.#limit) this.#alarm();
  }
}

function queueLength(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'latin1')) || DEFAULT_QUEUE;
  } catch {
    return DEFAULT_QUEUE;
  }
}
