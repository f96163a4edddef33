import { readSync } from 'node:fs';
import { MAX_SEARCH_FILE_BYTES, MAX_SEARCH_LINE_BYTES } from '../protocol/limits.js';
import { errnoOf } from './file-error.js';
import { type FoundLine, type LineFinder, lineEnds } from './search-lines.js';

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Why the rest of a file was not looked at. */
export type SkipReason = 'binary' | 'too_large' | 'unreadable';

/** Searches open files, block by block, so that their size takes no memory. It blocks: it is for a thread of its own. */
export class FileSearch {
  readonly #finder: LineFinder;
  readonly #buffer = Buffer.allocUnsafe(MAX_SEARCH_LINE_BYTES);
  /** Bytes of the buffer that wait for the end of their line. */
  #kept = 0;
  /** Lines before the buffer. */
  #lines = 0;
  /** Whether the line is longer than what is searched of it. */
  #passing = false;

  constructor(finder: LineFinder) {
    this.#finder = finder;
  }

  /**
   * The lines that fit. A file that holds a NUL byte is binary, and is left from there on.
   * @param pause called after each block
   */
  *search(fd: number, pause: () => void): Generator<FoundLine, SkipReason | null> {
    this.#kept = 0;
    this.#lines = 0;
    this.#passing = false;
    for (let total = 0; total <= MAX_SEARCH_FILE_BYTES; ) {
      const count = this.#read(fd);
      if (count === null) return 'unreadable';
      if (count === 0) {
        yield* this.#lineBlock(this.#kept);
        return null;
      }
      if (this.#buffer.subarray(this.#kept, this.#kept + count).includes(0)) return 'binary';
      if (total === 0) this.#passMark(count);
      else this.#kept += count;
      total += count;
      yield* this.#wholeLines();
      pause();
    }
    return 'too_large';
  }

  #read(fd: number): number | null {
    try {
      return readSync(fd, this.#buffer, this.#kept, this.#buffer.length - this.#kept, null);
    } catch (error) {
      return errnoOf(error) === 'EAGAIN' ? 0 : null;
    }
  }

  /** The mark that some editors put before UTF-8 is no part of the first line. */
  #passMark(count: number): void {
    const marked = this.#buffer.subarray(0, count).indexOf(BYTE_ORDER_MARK) === 0;
    if (marked) this.#buffer.copyWithin(0, BYTE_ORDER_MARK.length, count);
    this.#kept = marked ? count - BYTE_ORDER_MARK.length : count;
  }

  *#wholeLines(): Generator<FoundLine> {
    if (this.#passing) this.#pass();
    const end = this.#kept === 0 ? -1 : this.#buffer.lastIndexOf(NEWLINE, this.#kept - 1);
    if (end >= 0) {
      yield* this.#lineBlock(end);
      this.#keep(end + 1);
    } else if (this.#kept === this.#buffer.length) {
      yield* this.#lineBlock(this.#kept);
      this.#lines--;
      this.#kept = 0;
      this.#passing = true;
    }
  }

  /** Drops what belongs to the line that is passed over. */
  #pass(): void {
    const end = this.#buffer.subarray(0, this.#kept).indexOf(NEWLINE);
    this.#passing = end < 0;
    if (end >= 0) this.#lines++;
    this.#keep(end < 0 ? this.#kept : end + 1);
  }

  #keep(from: number): void {
    this.#buffer.copyWithin(0, from, this.#kept);
    this.#kept -= from;
  }

  /** Lines up to `end`, without the last one's end. */
  *#lineBlock(end: number): Generator<FoundLine> {
    if (end === 0 && this.#kept === 0) return;
    const block = this.#buffer.subarray(0, end);
    for (const found of this.#finder.find(block)) yield { ...found, line: found.line + this.#lines };
    this.#lines += lineEnds(block) + 1;
  }
}
