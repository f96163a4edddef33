/** Lets one caller at a time act on a name in a directory, in the order of arrival. Callers of other names do not wait. */
export class NameLock {
  /** Of all file systems of this program: two of them may have the same directory. */
  static readonly shared = new NameLock();

  readonly #last = new Map<string, Promise<unknown>>();

  private constructor() {}

  /** @param directory its identity, so that all paths to it count as one */
  async hold<T>(directory: string, name: Buffer, act: () => Promise<T>): Promise<T> {
    const key = `${directory}/${name.toString('latin1')}`;
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
