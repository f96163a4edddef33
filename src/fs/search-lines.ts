import { RE2JS } from 're2js';
import { MAX_MATCH_TEXT_BYTES } from '../protocol/limits.js';

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** A line that fits. */
export interface FoundLine {
  /** From 1, in this block. */
  line: number;
  /** Where the match begins, in bytes from 1. */
  column: number;
  text: string;
  text_cut: boolean;
}

/** What a line has to hold, as the bytes of a block of whole lines are searched for it; the last line is without its end. */
export interface LineFinder {
  find(block: Buffer): Iterable<FoundLine>;
}

/**
 * Finds text literally, or by a regular expression of RE2, which takes linear time whatever it is.
 * @throws what RE2JS throws for an expression that is none
 */
export function lineFinder(text: string, regex: boolean, ignore_case: boolean): LineFinder {
  if (!regex && !ignore_case) return new LiteralFinder(text);
  const expression = RE2JS.compile(regex ? text : RE2JS.quote(text), ignore_case ? RE2JS.CASE_INSENSITIVE : 0);
  return new ExpressionFinder(expression);
}

/** Number of line ends in a block. */
export function lineEnds(block: Buffer, from = 0, to = block.length): number {
  let count = 0;
  for (let at = from; at < to; at++) if (block[at] === NEWLINE) count++;
  return count;
}

class LiteralFinder implements LineFinder {
  readonly #needle: Buffer;

  constructor(text: string) {
    this.#needle = Buffer.from(text);
  }

  *find(block: Buffer): Generator<FoundLine> {
    let line = 1;
    let counted = 0;
    for (let at = block.indexOf(this.#needle); at >= 0; ) {
      const start = block.lastIndexOf(NEWLINE, at) + 1;
      const end = lineEnd(block, at);
      line += lineEnds(block, counted, start);
      counted = start;
      yield { line, column: at - start + 1, ...shownLine(block.subarray(start, end), at - start) };
      if (end === block.length) return;
      at = block.indexOf(this.#needle, end + 1);
    }
  }
}

class ExpressionFinder implements LineFinder {
  readonly #expression: RE2JS;

  constructor(expression: RE2JS) {
    this.#expression = expression;
  }

  *find(block: Buffer): Generator<FoundLine> {
    for (let start = 0, line = 1; start <= block.length; line++) {
      const end = lineEnd(block, start);
      const bytes = block.subarray(start, end > start && block[end - 1] === RETURN ? end - 1 : end);
      if (this.#expression.test(bytes)) yield { line, ...this.#where(bytes) };
      start = end + 1;
    }
  }

  #where(bytes: Buffer): Omit<FoundLine, 'line'> {
    const matcher = this.#expression.matcher(bytes);
    const at = matcher.find() ? matcher.start() : 0;
    return { column: at + 1, ...shownLine(bytes, at) };
  }
}

function lineEnd(block: Buffer, from: number): number {
  const end = block.indexOf(NEWLINE, from);
  return end < 0 ? block.length : end;
}

/** The line as text, or, of a long one, the part that begins a little before the match. */
function shownLine(line: Buffer, at: number): { text: string; text_cut: boolean } {
  const whole = line.at(-1) === RETURN ? line.subarray(0, -1) : line;
  if (whole.length <= MAX_MATCH_TEXT_BYTES) return { text: whole.toString(), text_cut: false };
  const start = characterStart(whole, Math.max(0, Math.min(at - MAX_MATCH_TEXT_BYTES / 4, whole.length - MAX_MATCH_TEXT_BYTES)));
  const end = characterStart(whole, start + MAX_MATCH_TEXT_BYTES);
  return { text: whole.toString('utf8', start, end), text_cut: true };
}

/** The place itself, or the beginning of the UTF-8 character that it would cut. */
function characterStart(bytes: Buffer, place: number): number {
  if (place <= 0 || place >= bytes.length) return Math.max(0, Math.min(place, bytes.length));
  for (let back = 0; back < 4; back++) if (((bytes[place - back] ?? 0) & 0xc0) !== 0x80) return place - back;
  return place;
}
