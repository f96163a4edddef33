import { setImmediate } from 'node:timers/promises';
import { MAX_SCREEN_CELLS, type TtySize } from '../protocol/index.js';
import { boundJoins, boundRepeats, mendErasing } from './screen-bounds.js';
import { paintScreen } from './screen-paint.js';
import { UnfinishedSequence } from './unfinished-sequence.js';
import { internalsOf, openXTerm, type XTerm } from './xterm.js';

/** Lines above the screen that are kept, at most: they come back when the terminal becomes higher. */
const SCROLLBACK_LINES = 100;

/**
 * Given to the terminal at a time, in bytes times cells: it looks at the clock between pieces, and a sequence of two bytes may
 * touch every cell.
 */
const PIECE_WORK = 250_000;
const [SMALLEST_PIECE, LARGEST_PIECE] = [16, 512];

/** How long it draws before the event loop turns to everything else, in milliseconds. */
const TURN_MS = 8;

/** Turns of the event loop until it draws again, at most. */
const TURNS = 64;

/** Longest title that is kept, in characters. */
const LONGEST_TITLE = 1_024;

/** Ends an escape sequence wherever it is. */
const CANCEL = '\x18';

/** Modes that show the alternate screen. */
const ALTERNATE = new Set([47, 1047, 1049]);

/** What the terminal shows, as text. */
export interface Shown {
  cursor: { row: number; col: number; visible: boolean };
  title: string | null;
  alternate: boolean;
  text: string;
}

/** Draws output as a terminal does. It answers no questions of the program and takes no input. */
export class ScreenTerminal {
  readonly #terminal: XTerm;
  readonly #unfinished = new UnfinishedSequence();
  #title: string | null = null;
  #turn_began_at = 0;

  constructor(size: TtySize) {
    const terminal = openXTerm(fits(size) ? size : {}, scrollbackOf(size));
    terminal.onTitleChange((title) => {
      this.#title = title.slice(0, LONGEST_TITLE);
    });
    terminal.parser.registerOscHandler(8, () => true); // links: they show nothing, and would be kept
    boundRepeats(terminal);
    boundJoins(terminal);
    mendErasing(terminal);
    this.#terminal = terminal;
  }

  /**
   * Takes output; resolves when it is on the screen. Much of it takes several turns of the event loop.
   * @param ends_at when to give up, as `performance.now()` tells the time
   * @returns false when it gave up
   * @throws whatever the terminal fails with; it is then to be let go
   */
  async write(bytes: Uint8Array, ends_at = Number.POSITIVE_INFINITY): Promise<boolean> {
    this.#unfinished.push(bytes);
    const { cols, rows } = this.#terminal;
    const piece = Math.max(SMALLEST_PIECE, Math.min(LARGEST_PIECE, Math.floor(PIECE_WORK / (cols * rows))));
    for (let at = 0; at < bytes.length; at += piece) {
      if (performance.now() > ends_at) return false;
      if (performance.now() - this.#turn_began_at > TURN_MS) {
        await everythingElse();
        this.#turn_began_at = performance.now();
      }
      // Not by the public way, which works later: what fails there nobody can catch.
      internalsOf(this.#terminal).writeSync(bytes.subarray(at, at + piece));
    }
    return true;
  }

  /** Puts modes as they are; what was left unfinished is given up. */
  async setModes(modes: Map<number, boolean>): Promise<void> {
    const alternate = this.#terminal.buffer.active.type === 'alternate';
    // To leave a screen that is not shown would move the cursor.
    const changes = [...modes].filter(([mode, on]) => !ALTERNATE.has(mode) || on !== alternate);
    await this.write(Buffer.from(CANCEL + changes.map(([mode, on]) => `\x1b[?${mode}${on ? 'h' : 'l'}`).join('')));
  }

  /** Takes another size; one that is too large is passed over. */
  resize(size: TtySize): void {
    const { cols, rows } = size;
    const terminal = this.#terminal;
    if ((cols === terminal.cols && rows === terminal.rows) || !fits(size)) return;
    // It makes each line wider before it lets go of any: of 65,535 short ones 65,535 long ones, as much as the machine has.
    if (terminal.rows * cols > 2 * MAX_SCREEN_CELLS) terminal.resize(terminal.cols, rows);
    const scrollback = scrollbackOf(size);
    if (scrollback !== terminal.options.scrollback) terminal.options.scrollback = scrollback;
    terminal.resize(cols, rows);
  }

  show(): Shown {
    const { active } = this.#terminal.buffer;
    const lines: string[] = [];
    for (let row = 0; row < this.#terminal.rows; row++) lines.push(active.getLine(active.baseY + row)?.translateToString(true) ?? '');
    return {
      cursor: { row: active.cursorY, col: active.cursorX, visible: !internalsOf(this.#terminal).coreService.isCursorHidden },
      title: this.#title,
      alternate: active.type === 'alternate',
      text: lines
        .map((line) => line.trimEnd())
        .join('\n')
        .trimEnd(),
    };
  }

  /** What makes a terminal of the same size show the same. */
  paint(): Uint8Array {
    return Buffer.concat([Buffer.from(paintScreen(this.#terminal, this.#title)), this.#unfinished.bytes]);
  }
}

/**
 * Lets the event loop turn, for as long as it drew when there is work. One turn would not do: it reads a few KiB of each
 * terminal, so that a program in full spate would print at the pace of the drawing.
 */
async function everythingElse(): Promise<void> {
  const ends_at = performance.now() + TURN_MS;
  for (let turn = 0; turn < TURNS && performance.now() < ends_at; turn++) await setImmediate();
}

/** Lines above the screen that are kept: no more than fit into the largest screen. */
function scrollbackOf({ cols }: TtySize): number {
  return Math.min(SCROLLBACK_LINES, Math.floor(MAX_SCREEN_CELLS / cols));
}

/** Whether a screen of that size can be kept. */
export function fits({ cols, rows }: TtySize): boolean {
  return cols * rows <= MAX_SCREEN_CELLS;
}
