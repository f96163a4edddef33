/** A block, in bytes: one write at most, large enough that the round trip does not count. */
const BLOCK_BYTES = 4 * 1024 * 1024;

/** Input that waits, copied into blocks of memory that are filled again and again: fresh memory would cost more than the copy. */
export class InputBlocks {
  readonly #full: Uint8Array[] = [];
  #filling: Uint8Array | null = null;
  #filled = 0;
  readonly #spares: Uint8Array[] = [];

  /** Whether none waits. */
  get empty(): boolean {
    return this.#filled === 0 && this.#full.length === 0;
  }

  /** Whether a whole block waits. */
  get full(): boolean {
    return this.#full.length > 0;
  }

  /** Copies bytes: they may change afterwards. */
  push(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0; ) {
      const block = this.#room();
      const part = rest.subarray(0, BLOCK_BYTES - this.#filled);
      block.set(part, this.#filled);
      this.#filled += part.length;
      rest = rest.subarray(part.length);
      if (this.#filled === BLOCK_BYTES) this.#full.push(this.#take());
    }
  }

  /** The next bytes, a block at most; none when nothing waits. To be given back. */
  next(): Uint8Array {
    return this.#full.shift() ?? this.#take();
  }

  /** Takes the memory of bytes back that are not needed any more. */
  giveBack(bytes: Uint8Array): void {
    if (bytes.buffer.byteLength === BLOCK_BYTES) this.#spares.push(new Uint8Array(bytes.buffer));
  }

  clear(): void {
    this.#full.length = 0;
    this.#filled = 0;
  }

  #room(): Uint8Array {
    this.#filling ??= this.#spares.pop() ?? new Uint8Array(BLOCK_BYTES);
    return this.#filling;
  }

  #take(): Uint8Array {
    const bytes = this.#filling?.subarray(0, this.#filled) ?? new Uint8Array(0);
    this.#filling = null;
    this.#filled = 0;
    return bytes;
  }
}
