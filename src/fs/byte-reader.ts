const NOTHING = Buffer.alloc(0);

/** Takes bytes from a source in the sizes that are asked for; nothing is read before it is asked for. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = NOTHING;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** What is there, up to so many bytes and at least one; null at the end. */
  async some(most: number): Promise<Buffer | null> {
    if (this.#rest.length === 0 && !(await this.#more())) return null;
    const part = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }

  /** So many bytes; null when the source ends before. */
  async exactly(count: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    for (let missing = count; missing > 0; ) {
      const part = await this.some(missing);
      if (part === null) return null;
      parts.push(part);
      missing -= part.length;
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  /** The next bytes, which stay to be read; fewer where the source ends. */
  async peek(count: number): Promise<Buffer> {
    while (this.#rest.length < count && (await this.#more()));
    return this.#rest.subarray(0, count);
  }

  /** All that is left, as it comes. */
  async *rest(): AsyncGenerator<Buffer, void> {
    for (let part = await this.some(Number.MAX_SAFE_INTEGER); part !== null; part = await this.some(Number.MAX_SAFE_INTEGER)) yield part;
  }

  /** False at the end of the source. */
  async #more(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#source.next();
      if (done) return false;
      if (value.length === 0) continue;
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
      return true;
    }
  }
}
