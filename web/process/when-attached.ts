import type { Attached } from '../../src/client/index.js';

/** What is typed before the line to the program is there waits for it. */
export class WhenAttached {
  #attached: Attached | null = null;
  #waiting: ((attached: Attached) => void)[] = [];

  /** The line is there, or another one is. */
  attach(attached: Attached): void {
    this.#attached = attached;
    for (const act of this.#waiting.splice(0)) act(attached);
  }

  /** The line is gone; another one may come. */
  detach(): void {
    this.#attached = null;
  }

  /** Calls `act` with the line, now or when it is there, one after another as they came. */
  do(act: (attached: Attached) => void): void {
    if (this.#attached) act(this.#attached);
    else this.#waiting.push(act);
  }
}
