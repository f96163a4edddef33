/** One caller at a time for each key. The latest wins: it ends the one before, whose caller may be gone without a word, and waits for that. */
export class Turns {
  readonly #current = new Map<string, { cut: AbortController; done: Promise<unknown> }>();
  readonly #overtaken: () => unknown;

  /** @param overtaken makes the reason that a turn is ended with */
  constructor(overtaken: () => unknown) {
    this.#overtaken = overtaken;
  }

  /** Whether a turn is under way. */
  isTaken(key: string): boolean {
    return this.#current.has(key);
  }

  /** @param act is given a signal that ends it, by the next caller or by its own */
  async take<T>(key: string, signal: AbortSignal | undefined, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const before = this.#current.get(key);
    before?.cut.abort(this.#overtaken());
    const cut = new AbortController();
    const leave = () => cut.abort(signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    const done = (async () => {
      await before?.done.catch(() => undefined);
      cut.signal.throwIfAborted();
      return await act(cut.signal);
    })();
    const turn = { cut, done };
    this.#current.set(key, turn);
    try {
      return await done;
    } finally {
      signal?.removeEventListener('abort', leave);
      if (this.#current.get(key) === turn) this.#current.delete(key);
    }
  }
}
