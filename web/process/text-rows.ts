import type { OutputLog } from './output-log.js';

/** Characters that take two cells on a terminal, roughly (Unicode Standard Annex 11): East Asian wide ones and most emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

/** What takes one cell each, as nearly all output does. */
const SIMPLE = /^[\x20-\x7e]*$/;

const TAB_CELLS = 8;

/** Where the rows of a line begin when no row may be wider than `cols`. */
export function rowStarts(text: string, cols: number): number[] {
  if (text.length * 2 <= cols && !text.includes('\t')) return [0];
  if (SIMPLE.test(text)) return Array.from({ length: Math.max(1, Math.ceil(text.length / cols)) }, (_, row) => row * cols);
  const starts = [0];
  let cell = 0;
  let at = 0;
  for (const character of text) {
    const width = character === '\t' ? TAB_CELLS - (cell % TAB_CELLS) : WIDE.test(character) ? 2 : 1;
    if (cell + width > cols && cell > 0) {
      starts.push(at);
      cell = 0;
    }
    cell += width;
    at += character.length;
  }
  return starts;
}

/** Which rows the lines of a log take on a pane of some width. Follows the log as it grows and gives lines up. */
export class TextRows {
  readonly #log: OutputLog;
  /** Cells in a row; infinite where lines are not wrapped. */
  readonly cols: number;
  #first: number;
  /** Rows of lines given up. */
  #given_up = 0;
  /** For each line, all rows up to its end. */
  #ends: number[] = [];

  constructor(log: OutputLog, cols: number) {
    this.#log = log;
    this.cols = cols;
    this.#first = log.first;
    this.update();
  }

  get count(): number {
    return (this.#ends.at(-1) ?? this.#given_up) - this.#given_up;
  }

  /** Takes in what changed: only the last line ever does. */
  update(): void {
    const { first, end } = this.#log;
    const gone = Math.min(first - this.#first, this.#ends.length);
    if (gone > 0) {
      this.#given_up = this.#ends[gone - 1] as number;
      this.#ends = this.#ends.slice(gone);
    }
    this.#first = first;
    this.#ends.pop();
    for (let number = first + this.#ends.length; number < end; number++) {
      this.#ends.push((this.#ends.at(-1) ?? this.#given_up) + this.#rowsOf(number));
    }
  }

  /** The line that a row is of, and which of its rows it is. */
  at(row: number): { number: number; part: number } {
    const wanted = row + this.#given_up;
    let [low, high] = [0, this.#ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ends[middle] as number) > wanted) high = middle;
      else low = middle + 1;
    }
    return { number: this.#first + low, part: wanted - (this.#ends[low - 1] ?? this.#given_up) };
  }

  /** The first row of a line. */
  rowOf(number: number): number {
    return (this.#ends[number - this.#first - 1] ?? this.#given_up) - this.#given_up;
  }

  #rowsOf(number: number): number {
    if (this.cols === Number.POSITIVE_INFINITY) return 1;
    const { text } = this.#log.line(number);
    return SIMPLE.test(text) ? Math.max(1, Math.ceil(text.length / this.cols)) : rowStarts(text, this.cols).length;
  }
}
