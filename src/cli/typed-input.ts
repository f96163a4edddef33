import type { Readable } from 'node:stream';
import { DetachWatch } from './detach-keys.js';
import type { InputFeed } from './input-feed.js';

/** How long the beginning of the detach keys waits for the rest, in milliseconds: by then it was meant for the process. */
const HELD_MS = 500;

/** What a person types, or what a program pipes in. */
export class TypedInput {
  readonly source: Readable;
  /** Whether others may type too. */
  readonly shared: boolean;
  readonly #watch: DetachWatch;
  readonly #mute: boolean;
  #held: NodeJS.Timeout | undefined;

  /**
   * @param keys bytes that mean to leave; none: nothing does
   * @param mute whether all other keys are for nobody
   */
  constructor(source: Readable, shared: boolean, keys: number[] = [], mute = false) {
    this.#mute = mute;
    this.source = source;
    this.shared = shared;
    this.#watch = new DetachWatch(keys);
  }

  /** Hands all that comes to `feed`, up to the detach keys. */
  pipe(feed: InputFeed, detach: () => void): void {
    const push = (bytes: Uint8Array) => {
      if (!this.#mute) feed.push(bytes);
    };
    const end = () => {
      if (!this.#mute) feed.end();
    };
    this.source.on('data', (bytes: Buffer) => {
      clearTimeout(this.#held);
      const { send, detached } = this.#watch.take(bytes);
      push(send);
      if (detached) detach();
      else if (this.#watch.holds) this.#held = setTimeout(() => push(this.#watch.release()), HELD_MS);
    });
    this.source.once('end', end);
    this.source.once('error', end);
    this.source.once('close', () => clearTimeout(this.#held));
  }
}
