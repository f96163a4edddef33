import type { OutputLog } from './output-log.js';

/** Lines of a log in which some text is found, whatever its case. Follows the log. */
export class OutputSearch {
  readonly #log: OutputLog;
  readonly #wanted: string;
  #next: number;
  #found: number[] = [];
  /** The line one is at; -1 before the first step. */
  current = -1;

  constructor(log: OutputLog, text: string) {
    this.#log = log;
    this.#wanted = text.toLowerCase();
    this.#next = log.first;
  }

  get count(): number {
    return this.#found.length;
  }

  /** The place of the current line among those found, from 1; 0 when there is none. */
  get place(): number {
    return this.#found.indexOf(this.current) + 1;
  }

  /** Takes in what came, and gives up what went. */
  update(): void {
    const { first, end } = this.#log;
    let gone = 0;
    while ((this.#found[gone] ?? first) < first) gone++;
    if (gone > 0) this.#found.splice(0, gone);
    // The last line may still grow: it is looked at again.
    for (let number = Math.max(this.#next, first); number < end; number++) {
      if (this.#found.at(-1) !== number && this.#log.line(number).text.toLowerCase().includes(this.#wanted)) this.#found.push(number);
    }
    this.#next = Math.max(first, end - 1);
  }

  /** Goes on to the next line or back to the one before, around the ends; from `from` at first. Null when none is found. */
  step(forwards: boolean, from: number): number | null {
    if (this.#found.length === 0) return null;
    const at = this.current === -1 ? from - (forwards ? 1 : 0) : this.current;
    const beyond = forwards ? this.#found.find((number) => number > at) : this.#found.findLast((number) => number < at);
    this.current = beyond ?? (this.#found.at(forwards ? 0 : -1) as number);
    return this.current;
  }
}

/** Where a text is found in a line: beginnings and ends. */
export function matchesIn(text: string, wanted: string): [from: number, to: number][] {
  const found: [number, number][] = [];
  if (wanted === '') return found;
  const [line, needle] = [text.toLowerCase(), wanted.toLowerCase()];
  for (let at = line.indexOf(needle); at !== -1; at = line.indexOf(needle, at + needle.length)) found.push([at, at + needle.length]);
  return found;
}
