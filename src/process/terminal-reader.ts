import { ReadStream } from 'node:tty';
import { readWith } from './read-buffer.js';

/**
 * Most that Linux gives of a terminal at once, in bytes. A read that fills its buffer is followed by the next one, up to 32 times, before
 * the event loop goes on: readers are told of all of that together.
 */
const READ_BYTES = 4095;

/**
 * Reads the gateway's side of a terminal, and says when it is about to let go of it: on a hang-up the stream closes the
 * descriptor by itself and tells of it later, when the same number may be that of another terminal.
 */
export class TerminalReader extends ReadStream {
  readonly #letting_go: () => void;

  /**
   * @param tell told of bytes that are good until it returns
   * @param letting_go called once, while the descriptor is still open
   */
  constructor(fd: number, tell: (bytes: Uint8Array) => void, letting_go: () => void) {
    super(fd, { allowHalfOpen: true, ...readWith(READ_BYTES, tell) });
    this.#letting_go = letting_go;
    this.on('error', () => {}); // EIO: nobody has the terminal open any more
    this.on('end', () => this.destroy());
    this.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#letting_go();
    super._destroy(error, callback);
  }
}
