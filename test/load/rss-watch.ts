import { rssBytes } from '../support/proc.js';

const EVERY_MS = 50;

/** Watches how much the memory of a program grows. */
export class RssWatch {
  readonly #pid: number;
  readonly #before: number;
  readonly #timer: NodeJS.Timeout;
  #peak = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#before = rssBytes(pid);
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  /** Ends the watch; returns the most that it was above the beginning, in bytes. */
  stop(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#peak - this.#before;
  }

  #look(): void {
    this.#peak = Math.max(this.#peak, rssBytes(this.#pid));
  }
}
