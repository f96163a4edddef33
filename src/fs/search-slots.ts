import { MAX_SEARCHES } from '../protocol/limits.js';

/** Lets so many searches run at once; others wait in the order of arrival. */
export class SearchSlots {
  #free = MAX_SEARCHES;
  readonly #waiting: (() => void)[] = [];

  /**
   * Waits for a slot.
   * @returns what gives it back, to be called once; null when there was none within `wait_ms`
   */
  async take(wait_ms: number, signal: AbortSignal | undefined): Promise<(() => void) | null> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else if (!(await this.#wait(wait_ms, signal))) return null;
    return () => {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    };
  }

  #wait(wait_ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        act();
      };
      const go = () => settle(() => resolve(true));
      const leave = (act: () => void) => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        settle(act);
      };
      const abort = () => leave(() => reject(signal?.reason));
      const timer = setTimeout(() => leave(() => resolve(false)), wait_ms);
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(go);
    });
  }
}
