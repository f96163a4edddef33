import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { DetachWatch } from './detach-keys.js';
import type { InputFeed } from './input-feed.js';

/** How long the beginning of the detach keys waits for the rest, in milliseconds: by then it was meant for the process. */
const HELD_MS = 500;

/** How long the detach keys wait for what was typed before them to arrive, in milliseconds: a round trip, and no more of a lost connection. */
const SENDING_MS = 1_000;

/** What Ctrl-C sends on a terminal that hands every key on. */
const CTRL_C = 3;

/** The keys on a terminal that leave the process running. */
export interface LeavingKeys {
  /** Bytes that mean to leave; none: nothing does. */
  keys: number[];
  /** Whether Ctrl-C leaves, in place of going to the process. */
  byCtrlC: () => boolean;
}

/** What a person types, or what a program pipes in. */
export class TypedInput {
  readonly source: Readable;
  /** Whether others may type too. */
  readonly shared: boolean;
  readonly #leaving: LeavingKeys;
  readonly #watch: DetachWatch;
  readonly #mute: boolean;
  #held: NodeJS.Timeout | undefined;
  /** Why not all of it could be read; null when all was, or nothing is missed. */
  failure: Error | null = null;

  /**
   * @param leaving what leaves the process; nothing unless given: what is piped in is data
   * @param mute whether all other keys are for nobody
   */
  constructor(source: Readable, shared: boolean, leaving: LeavingKeys = { keys: [], byCtrlC: () => false }, mute = false) {
    this.#mute = mute;
    this.source = source;
    this.shared = shared;
    this.#leaving = leaving;
    this.#watch = new DetachWatch(leaving.keys);
  }

  /** The bytes that mean to leave. */
  get keys(): number[] {
    return this.#leaving.keys;
  }

  /** A terminal that is gone has ended. */
  #isOver(error: Error): boolean {
    return (this.source as Partial<ReadStream>).isTTY === true || (error as NodeJS.ErrnoException).code === 'ECONNRESET';
  }

  /** Hands all that comes to `feed`, up to what leaves: the detach keys, or Ctrl-C (`interrupted`). */
  pipe(feed: InputFeed, detach: (interrupted: boolean) => void): void {
    const push = (bytes: Uint8Array) => {
      if (!this.#mute) feed.push(bytes);
    };
    const end = () => {
      if (!this.#mute) feed.end();
    };
    let leaves = false;
    this.source.on('data', (bytes: Buffer) => {
      if (leaves) return;
      clearTimeout(this.#held);
      if (this.#leaving.byCtrlC() && bytes.includes(CTRL_C)) return detach(true);
      const { send, detached } = this.#watch.take(bytes);
      push(send);
      leaves = detached;
      if (detached) void feed.sent(SENDING_MS).then(() => detach(false));
      else if (this.#watch.holds) this.#held = setTimeout(() => push(this.#watch.release()), HELD_MS);
    });
    this.source.once('end', end);
    this.source.once('error', (error) => {
      if (!this.#isOver(error)) this.failure = error;
      end();
    });
    if (isDirectory(this.source)) this.failure = new Error('it is a directory'); // Node reads nothing from one
    this.source.once('close', () => clearTimeout(this.#held));
  }
}

function isDirectory(source: Readable): boolean {
  const { fd } = source as { fd?: unknown };
  return typeof fd === 'number' && fstatSync(fd).isDirectory();
}
