import type { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import type { Gap, ProcessEvent, Stream } from '../protocol/output.js';
import { standardStream } from '../standard-stream.js';
import { sizeText } from './copy-tally.js';
import type { Sink } from './foreground.js';
import { LeftModes } from './left-modes.js';

/** What waits here for a slow reader before the gateway is held back, in bytes. */
const WAITING_BYTES = 1024 * 1024;

/** Errors of a write that mean: nobody reads it any more. */
const LEFT = new Set(['EPIPE', 'ECONNRESET', 'EIO', 'ERR_STREAM_DESTROYED']);

/** Standard output and error as the place where a process prints, and where a person is told of it. */
export class LocalOutput implements Sink {
  readonly #command: string;
  readonly #out: Writable = standardStream(1);
  readonly #err: Writable = standardStream(2);
  readonly #modes: LeftModes | null;
  #broken: NodeJS.ErrnoException | null = null;
  #err_broken: NodeJS.ErrnoException | null = null;
  #err_carries = false;
  #gaps = 0;
  /** Called once when what a process printed can be written no more: its reader has left, or the disk is full. */
  onBroken: () => void = () => {};
  /** Whether the terminal is raw: a line must take the cursor back by itself. */
  raw = false;

  /** @param command its name, for what a person is told */
  constructor(command: string) {
    this.#command = command;
    this.#modes = isatty(1) ? new LeftModes() : null;
    this.#out.on('error', (error) => this.#break(error, 'stdout'));
    // What a person is told there is not the process's: its end is no one's reason to end.
    this.#err.on('error', (error) => {
      this.#err_broken ??= error;
      if (this.#err_carries) this.#break(error, 'stderr');
    });
  }

  /** Tells a person one line, on stderr. */
  readonly say = (line: string): void => {
    const text = `exec-gateway ${this.#command}: ${line}`;
    if (this.#err.writable) this.#err.write(this.raw ? `\r\n${text}\r\n` : `${text}\n`);
  };

  /** Whether the process paints the whole screen of the terminal here. */
  get full_screen(): boolean {
    return this.#modes?.full_screen ?? false;
  }

  /** Whether the reader of what is printed has left, as that of a pipe does. */
  get reader_gone(): boolean {
    return this.#broken !== null && !this.failed;
  }

  /** Whether what is printed could not be written, as on a disk that is full. */
  get failed(): boolean {
    return this.#broken !== null && !LEFT.has(this.#broken.code ?? '');
  }

  /** Whether some output was no longer held when it was asked for. */
  get incomplete(): boolean {
    return this.#gaps > 0;
  }

  /** Prints what a batch of events holds, at the pace of whoever reads it. */
  async take(events: ProcessEvent[]): Promise<void> {
    for (const event of events) {
      if (event.event === 'output') await this.write(event.stream, event.chunk);
      else if (event.event === 'gap') this.#tell(event);
    }
  }

  /** Prints bytes of one stream; those of a terminal on stdout. */
  async write(stream: Stream, bytes: Uint8Array): Promise<void> {
    const to = stream === 'stderr' ? this.#err : this.#out;
    if (to === this.#err) this.#toStderr();
    if (stream === 'pty') this.#modes?.note(bytes);
    if (!to.writable || to.write(bytes) || to.writableLength < WAITING_BYTES) return;
    await drained(to);
  }

  /** Takes back the modes that the process has left on in the terminal; resolves when all is with the system, or nobody reads it any more. */
  async close(): Promise<void> {
    const reset = this.#modes?.reset() ?? '';
    if (reset !== '' && this.#out.writable) this.#out.write(reset);
    for (const stream of [this.#out, this.#err]) {
      if (stream.writable) await new Promise<void>((resolve) => stream.write('', () => resolve()));
    }
  }

  #toStderr(): void {
    this.#err_carries = true;
    if (this.#err_broken) this.#break(this.#err_broken, 'stderr');
  }

  #break(error: NodeJS.ErrnoException, name: string): void {
    if (this.#broken) return;
    this.#broken = error;
    if (this.failed) this.say(`${name} cannot be written: ${error.message}. What was printed is not whole. [${error.code}]`);
    this.onBroken();
  }

  #tell({ bytes }: Gap): void {
    this.#gaps++;
    const size = bytes === null ? 'some output is' : `${sizeText(bytes)} of output are`;
    if (this.#gaps === 1) this.say(`${size} missing here: no longer held when we came for it (run --retain-bytes keeps more)`);
    else this.say(`${size} missing here too`);
  }
}

/** Resolves when a stream takes more, or never will. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
