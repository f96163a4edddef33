/** Waits for what readers are told: the only clock of a test whose machine may be slow. */
export class News {
  readonly #waiting = new Set<(reader: string) => void>();

  /** A reader was told something. */
  tell(reader: string): void {
    for (const look of this.#waiting) look(reader);
  }

  /** Resolves when so many readers were told something from now on, and after that something was told so many times. */
  async after(readers: number, times: number): Promise<void> {
    const heard = new Set<string>();
    await this.#until((reader) => heard.add(reader).size >= readers);
    let left = times;
    await this.#until(() => --left <= 0);
  }

  /** Resolves when this reader is told something. */
  of(reader: string): Promise<void> {
    return this.#until((told) => told === reader);
  }

  #until(enough: (reader: string) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (reader: string) => {
        if (!enough(reader)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }
}
