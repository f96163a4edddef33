/** Lets one caller at a time act on a key, in the order of arrival. Callers of other keys do not wait. */
export class NameLock {
  readonly #last = new Map<string, Promise<unknown>>();

  async hold<T>(key: string, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = (async () => {
      await before?.catch(() => undefined);
      return await act();
    })();
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
