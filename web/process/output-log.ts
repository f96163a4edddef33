import type { Gap, Stream } from '../../src/client/index.js';
import { MAX_CHUNK_BYTES } from '../../src/protocol/limits.js';
import { bytesText } from '../format.js';
import { AnsiReader, PLAIN, type Style } from './ansi.js';

/** Where in a line a style begins. */
export interface Span {
  at: number;
  style: Style;
}

/** A line of output; or a word of ours, in place of what is missing or at the end. */
export interface Line {
  kind: 'output' | 'gap' | 'note';
  stream: Stream | null;
  text: string;
  /** Null when all of it is plain. */
  spans: Span[] | null;
  /** Whether the line before goes on here: it was too long for one. */
  continued: boolean;
}

/** So many lines and characters are held, the newest; more would take too much memory of the browser. */
export const MAX_LINES = 200_000;
export const MAX_CHARACTERS = 16 * 1024 * 1024;

/** A longer line is broken. */
export const MAX_LINE_CHARACTERS = 8_192;

/** Lines given up that still take a place in the array. */
const SLACK_LINES = 100_000;

interface Reader {
  decoder: TextDecoder;
  ansi: AnsiReader;
  /** The line that goes on, as long as it is the last one. */
  open: Line | null;
  /** Whether the next text begins the line anew. */
  returned: boolean;
}

/** The output of a process in lines, bounded. Lines are counted from 0 and keep their number. */
export class OutputLog {
  #lines: Line[] = [];
  /** Lines of the array that were given up. */
  #head = 0;
  /** The number of the first line of the array. */
  #base = 0;
  #characters = 0;
  readonly #readers = new Map<Stream, Reader>();
  /** The longest line so far, in characters. */
  longest = 0;
  /** Output so far, in bytes. */
  bytes = 0;

  /** The number of the first line that is held. */
  get first(): number {
    return this.#base + this.#head;
  }

  /** The number after the last line. */
  get end(): number {
    return this.#base + this.#lines.length;
  }

  /** Whether the next chunk may push out the first line. */
  get full(): boolean {
    return this.end - this.first >= MAX_LINES - MAX_CHUNK_BYTES || this.#characters >= MAX_CHARACTERS - MAX_CHUNK_BYTES;
  }

  /** A line by its number, which must be held. */
  line(number: number): Line {
    return this.#lines[number - this.#base] as Line;
  }

  append(stream: Stream, chunk: Uint8Array): void {
    this.bytes += chunk.length;
    const reader = this.#reader(stream);
    for (const { text, style } of reader.ansi.read(reader.decoder.decode(chunk, { stream: true }))) this.#text(stream, reader, text, style);
    this.#trim();
  }

  gap({ from_seq, to_seq, bytes }: Gap): void {
    const size = bytes === null ? 'Output' : `${bytesText(bytes)} of output`;
    this.#word('gap', `${size} is missing here: the gateway no longer holds events ${from_seq} to ${to_seq}.`);
  }

  skipped(): void {
    this.#word('gap', 'Earlier output is not shown here; “Go to the start” shows it.');
  }

  note(text: string): void {
    this.#word('note', text);
  }

  #reader(stream: Stream): Reader {
    let reader = this.#readers.get(stream);
    if (reader === undefined) {
      reader = { decoder: new TextDecoder(), ansi: new AnsiReader(), open: null, returned: false };
      this.#readers.set(stream, reader);
    }
    return reader;
  }

  #text(stream: Stream, reader: Reader, text: string, style: Style): void {
    const returns = text.includes('\r');
    let at = 0;
    while (at < text.length) {
      const feed = text.indexOf('\n', at);
      const end = feed === -1 ? text.length : feed;
      if (end > at) {
        const part = text.slice(at, end);
        if (returns || reader.returned) this.#returning(stream, reader, part, style);
        else this.#part(stream, reader, part, style);
      }
      if (feed === -1) return;
      if (!this.#isOpen(reader)) this.#open(stream, reader, false);
      reader.open = null;
      reader.returned = false;
      at = feed + 1;
    }
  }

  #part(stream: Stream, reader: Reader, part: string, style: Style): void {
    if (!this.#isOpen(reader)) this.#open(stream, reader, false);
    for (let rest = part; rest !== ''; ) rest = this.#fill(stream, reader, rest, style);
  }

  /** After a carriage return a line begins anew, as progress is shown; only the last beginning counts. */
  #returning(stream: Stream, reader: Reader, part: string, style: Style): void {
    const shown = part.replace(/\r+$/, '');
    const anew = shown.lastIndexOf('\r') + 1;
    if (shown !== '') {
      if (this.#isOpen(reader) && (reader.returned || anew > 0)) this.#clear(reader.open as Line);
      this.#part(stream, reader, shown.slice(anew), style);
    }
    if (shown !== '' || part !== shown) reader.returned = part !== shown;
  }

  /** Puts what there is room for on the open line; the rest goes on the next one. */
  #fill(stream: Stream, reader: Reader, text: string, style: Style): string {
    let line = reader.open as Line;
    if (line.text.length >= MAX_LINE_CHARACTERS) line = this.#open(stream, reader, true);
    const part = text.slice(0, MAX_LINE_CHARACTERS - line.text.length);
    if (style !== (line.spans?.at(-1)?.style ?? PLAIN)) {
      line.spans ??= [];
      line.spans.push({ at: line.text.length, style });
    }
    line.text += part;
    this.#characters += part.length;
    this.longest = Math.max(this.longest, line.text.length);
    return text.slice(part.length);
  }

  #isOpen({ open }: Reader): boolean {
    return open !== null && open === this.#lines.at(-1);
  }

  #open(stream: Stream, reader: Reader, continued: boolean): Line {
    const line: Line = { kind: 'output', stream, text: '', spans: null, continued };
    this.#lines.push(line);
    reader.open = line;
    reader.returned = false;
    return line;
  }

  #clear(line: Line): void {
    this.#characters -= line.text.length;
    line.text = '';
    line.spans = null;
  }

  #word(kind: 'gap' | 'note', text: string): void {
    this.#lines.push({ kind, stream: null, text, spans: null, continued: false });
    this.#trim();
  }

  #trim(): void {
    while (this.#lines.length - this.#head > MAX_LINES || this.#characters > MAX_CHARACTERS) {
      this.#characters -= (this.#lines[this.#head] as Line).text.length;
      this.#head++;
    }
    if (this.#head < SLACK_LINES) return;
    this.#lines = this.#lines.slice(this.#head);
    this.#base += this.#head;
    this.#head = 0;
  }
}
