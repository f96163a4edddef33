import type { Writable } from 'node:stream';

/** Lines that wait for a slow reader of the log, in bytes; beyond it they are dropped and counted: nobody waits for a log. */
const LOG_BUFFER_BYTES = 1024 * 1024;

/** Lines are written together, so many bytes or so many milliseconds at a time: one by one they would cost as much as a request. */
const MIN_WRITE_BYTES = 4096;
const MAX_DELAY_MS = 100;

/** The lines of a log on their way to a stream, as a destination of pino. Never waits, never holds more than 1 MiB; tells what it dropped. */
export class LogLines {
  readonly #out: Writable;
  #text = '';
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(out: Writable) {
    this.#out = out;
  }

  /** Takes one line. */
  write(line: string): void {
    if (!this.#hasRoom(line)) this.#dropped += 1;
    else {
      this.#tellDropped();
      this.#add(line);
    }
  }

  /** Hands over what waits, as at the exit: what the stream does not take at once is then lost. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    this.#out.write(text, () => this.#tellDropped());
  }

  #hasRoom(line: string): boolean {
    return this.#out.writableLength + this.#text.length + line.length <= LOG_BUFFER_BYTES;
  }

  #add(line: string): void {
    this.#text += line;
    if (this.#text.length >= MIN_WRITE_BYTES) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), MAX_DELAY_MS).unref();
  }

  #tellDropped(): void {
    const lines = this.#dropped;
    if (lines === 0) return;
    this.#dropped = 0;
    this.#add(`${JSON.stringify({ level: 40, time: new Date().toISOString(), lines, msg: 'log lines dropped: nobody read them' })}\n`);
  }
}
