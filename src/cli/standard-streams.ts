import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Standard input and output as the two ends of a copy. */
export class StandardStreams {
  readonly #input: Readable;
  readonly #output: Writable;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  /** What comes in. A caller that gives up does not wait for more. */
  async *read(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const give_up = () => this.#input.destroy(signal.reason);
    signal.addEventListener('abort', give_up, { once: true });
    try {
      yield* this.#input;
    } finally {
      signal.removeEventListener('abort', give_up);
      this.#input.destroy();
    }
  }

  /** Writes at the reader's pace. @returns bytes written, when the system has them all */
  async write(body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number> {
    let count = 0;
    const counted = async function* () {
      for await (const bytes of body) {
        count += bytes.length;
        yield bytes;
      }
    };
    await pipeline(counted, this.#output, { signal, end: false });
    await new Promise<void>((resolve, reject) => {
      this.#output.write('', (error) => (error ? reject(error) : resolve()));
    });
    return count;
  }
}
