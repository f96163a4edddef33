import { sizeText } from './copy-tally.js';

/** Time between two looks of the line, in milliseconds. */
const EVERY_MS = 200;

/** Width of a terminal that does not tell it, in characters. */
const STANDARD_COLUMNS = 80;

/** Where the line is shown: a terminal. */
export interface Terminal {
  columns: number;
  write(text: string): void;
}

/** How far a copy is, in one line of a terminal that is written over and over. Without a terminal it only counts. */
export class CopyProgress {
  readonly #terminal: Terminal | null;
  readonly #timer: NodeJS.Timeout | undefined;
  #name = '';
  #total: number | null = null;
  #bytes = 0;
  #began = 0;
  #shown = false;

  constructor(terminal: Terminal | null) {
    this.#terminal = terminal;
    if (terminal) this.#timer = setInterval(() => this.#show(), EVERY_MS).unref();
  }

  /** @param total bytes that will come; null when that is not known */
  begin(name: string, total: number | null): void {
    this.#name = name;
    this.#total = total;
    this.#bytes = 0;
    this.#began = performance.now();
  }

  /** Counts what passes. @param offset where it begins; default: where the last ended */
  async *watch(body: AsyncIterable<Uint8Array>, offset = this.#bytes): AsyncGenerator<Uint8Array, void> {
    this.#bytes = offset;
    for await (const bytes of body) {
      this.#bytes += bytes.length;
      yield bytes;
    }
  }

  /** Takes the line away and writes another in its place, on a terminal alone. */
  say(line: string): void {
    this.clear();
    this.#terminal?.write(`${line}\n`);
  }

  /** Takes the line away: something else is to be written. */
  clear(): void {
    if (this.#shown) this.#terminal?.write('\r\x1b[K');
    this.#shown = false;
  }

  close(): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #show(): void {
    if (!this.#terminal || this.#name === '') return;
    const seconds = (performance.now() - this.#began) / 1000;
    const rate = this.#bytes / Math.max(seconds, 0.001);
    const share = this.#total ? `${Math.min(100, Math.floor((100 * this.#bytes) / this.#total))}%  ` : '';
    const left = this.#total && rate > 0 ? `  ${Math.ceil(Math.max(0, this.#total - this.#bytes) / rate)} s left` : '';
    const figures = `  ${share}${sizeText(this.#bytes)}  ${sizeText(rate)}/s${left}`;
    this.#terminal.write(`\r${endOf(this.#name, (this.#terminal.columns || STANDARD_COLUMNS) - 1 - figures.length)}${figures}\x1b[K`);
    this.#shown = true;
  }
}

/** The end of a name tells more than its beginning. What would move the cursor is not shown. */
function endOf(name: string, width: number): string {
  const plain = name.replace(/\p{Cc}/gu, '?');
  return plain.length <= width ? plain : `…${plain.slice(plain.length - Math.max(0, width - 1))}`;
}
