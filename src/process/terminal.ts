import { closeSync } from 'node:fs';
import type { TtySize } from '../protocol/index.js';
import type { Child, ChildEvents } from './child.js';
import { PtyWriter } from './pty-writer.js';
import { readNow } from './read-buffer.js';
import { TerminalReader } from './terminal-reader.js';

/** What opening a terminal for a program gave. */
export interface OpenTerminal {
  pid: number;
  /** The gateway's side: non-blocking. */
  fd: number;
  /**
   * A descriptor of our own on the program's side, or -1: while it is open, the end of the program is no hang-up, which
   * would cut short what is still to be read.
   */
  keeper: number;
  resize(size: TtySize): void;
}

/** A child on a terminal. Its end is told by `exited`, which whoever launched it calls once. */
export class Terminal implements Child {
  readonly pid: number;
  readonly #fd: number;
  readonly #resize: (size: TtySize) => void;
  readonly #events: ChildEvents;
  readonly #reader: TerminalReader;
  readonly #writer: PtyWriter;
  #keeper: number;
  #open = true;
  #paused = false;

  constructor({ pid, fd, keeper, resize }: OpenTerminal, events: ChildEvents) {
    this.pid = pid;
    this.#fd = fd;
    this.#keeper = keeper;
    this.#resize = resize;
    this.#events = events;
    this.#writer = new PtyWriter(fd);
    const tell = (bytes: Uint8Array) => events.output('pty', bytes);
    this.#reader = new TerminalReader(fd, tell, () => this.#letGo());
  }

  /** The program ended. What it printed before is told first. */
  exited(code: number, signal: number): void {
    if (this.#open && !this.#paused) this.#drain();
    this.#events.exit(code, signal);
    this.#releaseKeeper();
  }

  pause(): void {
    this.#paused = true;
    this.#reader.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#reader.resume();
  }

  write(bytes: Uint8Array, done: (error: Error | null) => void): void {
    this.#writer.write(bytes, done);
  }

  endInput(done: (error: Error | null) => void): void {
    this.#writer.write(Uint8Array.of(4), done);
  }

  resize(size: TtySize): void {
    if (this.#open) this.#resize(size);
  }

  destroy(): void {
    this.#reader.destroy();
  }

  #letGo(): void {
    this.#drain(); // a hang-up reaches the stream before the last bytes do
    this.#open = false;
    this.#writer.close();
    this.#releaseKeeper();
    this.#events.end();
  }

  /** Tells what the terminal holds at this moment. */
  #drain(): void {
    readNow(this.#fd, (bytes) => this.#events.output('pty', bytes));
  }

  #releaseKeeper(): void {
    if (this.#keeper >= 0) closeSync(this.#keeper);
    this.#keeper = -1;
  }
}
