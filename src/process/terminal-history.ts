import type { TtySize } from '../protocol/index.js';
import { OutputTimes } from './output-times.js';
import type { SizeChange } from './transcript/process-record.js';

/**
 * Private modes (CSI ? n h and l) that change what a screen shows or how it takes input: cursor keys, origin, wrap, cursor,
 * the alternate screen, mouse, focus, bracketed paste.
 */
const MODES = new Set([1, 6, 7, 9, 25, 47, 1000, 1002, 1003, 1004, 1006, 1016, 1047, 1049, 2004]);

/** Changes of mode, and of size, that are remembered one by one; older ones only by what they led to. */
const REMEMBERED_MARKS = 256;

/** Longest sequence of modes that is understood when it comes in two parts, in bytes. */
const LONGEST = 64;

const ESC = 0x1b;
/** A full reset, or private modes set or reset. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const CHANGES = /\x1b(?:c|\[\?([\d;]{1,48})([hl]))/g;

/**
 * What must be known of a terminal's past to show its screen when the output of then is no longer held: when it was
 * resized, and which modes were set. And when it printed what.
 */
export class TerminalHistory {
  readonly times = new OutputTimes();
  #sizes: SizeChange[];
  #marks: { seq: number; modes: number[] | null; on: boolean }[] = [];
  #before = new Map<number, boolean>();
  #rest = '';

  constructor(size: TtySize) {
    this.#sizes = [{ cols: size.cols, rows: size.rows, seq: 0, at_ms: 0 }];
  }

  /** The sizes that it had, the one at its start first as long as there were not too many. */
  get sizes(): readonly SizeChange[] {
    return this.#sizes;
  }

  /** Takes over what an earlier program has seen. */
  restore(sizes: readonly SizeChange[]): void {
    this.#sizes = [...sizes];
  }

  /** To be called for every chunk. */
  printed(seq: number, chunk: Uint8Array): void {
    this.times.mark(seq);
    if (this.#rest === '' && chunk.indexOf(ESC) < 0) return;
    const text = this.#rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    for (const [, modes, how] of text.matchAll(CHANGES)) {
      const known = modes === undefined ? null : modes.split(';').map(Number).filter(isKnown);
      if (known === null || known.length > 0) this.#mark(seq, known, how === 'h');
    }
    const last = text.slice(-LONGEST).lastIndexOf('\x1b');
    const rest = last < 0 ? '' : text.slice(-LONGEST).slice(last);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
    this.#rest = /^\x1b(\[(\?[\d;]*)?)?$/.test(rest) ? rest : '';
  }

  /** @param seq the next event, which is drawn at the new size */
  resized(seq: number, { cols, rows }: TtySize): void {
    if (this.#sizes.at(-1)?.seq === seq) this.#sizes.pop();
    this.#sizes.push({ cols, rows, seq, at_ms: this.times.now() });
    if (this.#sizes.length > REMEMBERED_MARKS) this.#sizes.shift();
  }

  /** The size at which an event was drawn. */
  sizeAt(seq: number): TtySize {
    const found = this.#sizes.findLast((size) => size.seq <= seq) ?? (this.#sizes[0] as TtySize);
    return { cols: found.cols, rows: found.rows };
  }

  /** The modes that were set or reset before an event, the latest last. */
  modesBefore(seq: number): Map<number, boolean> {
    const modes = new Map(this.#before);
    for (const mark of this.#marks) if (mark.seq < seq) apply(modes, mark);
    return modes;
  }

  #mark(seq: number, modes: number[] | null, on: boolean): void {
    this.#marks.push({ seq, modes, on });
    if (this.#marks.length <= 2 * REMEMBERED_MARKS) return;
    for (const mark of this.#marks.splice(0, REMEMBERED_MARKS)) apply(this.#before, mark);
  }
}

function isKnown(mode: number): boolean {
  return MODES.has(mode);
}

function apply(state: Map<number, boolean>, { modes, on }: { modes: number[] | null; on: boolean }): void {
  if (modes === null) state.clear();
  for (const mode of modes ?? []) {
    state.delete(mode);
    state.set(mode, on);
  }
}
