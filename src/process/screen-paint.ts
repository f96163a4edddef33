import { background, styleSequence } from './cell-style.js';
import { type Charset, internalsOf, type XTerm, type XTermBuffer, type XTermCell, type XTermLine } from './xterm.js';

/** A full reset: what was on the other terminal before is gone. */
const RESET = '\x1bc';
const ALTERNATE = '\x1b[?1049h';
const SAVE = '\x1b7';
const RESTORE = '\x1b8';
const LINE_DRAWING = '\x1b(0';
const ASCII = '\x1b(B';
const INSERT = '\x1b[4h';
/** Empties a cell, which takes the colour behind. */
const ERASE = '\x1b[X';

const MOUSE = { none: '', x10: '\x1b[?9h', vt200: '\x1b[?1000h', drag: '\x1b[?1002h', any: '\x1b[?1003h' };
const ENCODINGS: Record<string, string> = { SGR: '\x1b[?1006h', SGR_PIXELS: '\x1b[?1016h' };
const CURSORS = { block: 1, underline: 3, bar: 5 };

/** The sequences that make a terminal of the same size show the same, with the same modes. */
export function paintScreen(terminal: XTerm, title: string | null): string {
  const { buffers, buffer } = internalsOf(terminal);
  const { active, normal } = terminal.buffer;
  const alternate = active.type === 'alternate';
  return [
    RESET,
    alternate ? rows(terminal, normal) + savedBy(ALTERNATE, buffers.normal) : '',
    rows(terminal, active),
    savedBy(SAVE, buffer),
    title === null ? '' : `\x1b]2;${title}\x07`,
    modes(terminal),
    margins(terminal),
    cursor(terminal),
  ].join('');
}

/** Draws line by line. A line that went over the end of the one before does so again, to be one line when the size changes. */
function rows(terminal: XTerm, buffer: XTermBuffer): string {
  let painted = '';
  let col = 0;
  for (let row = 0; row < terminal.rows; row++) {
    const line = buffer.getLine(buffer.baseY + row) as XTermLine | undefined;
    const first = line?.getCell(0);
    if (!line || !first) break;
    // A wide character that did not fit left one column free.
    const full = col === terminal.cols || (col === terminal.cols - 1 && first.getWidth() === 2);
    const goes_on = line.isWrapped && full && first.getChars() !== '';
    const drawn = lineCells(line, terminal.cols);
    if (!goes_on && drawn.painted !== '') painted += move(row, 0);
    painted += drawn.painted;
    col = drawn.col;
  }
  return painted;
}

/** Draws one line from its beginning; `col` is where the cursor is then. */
function lineCells(line: XTermLine, cols: number): { painted: string; col: number } {
  let painted = '';
  let style = '';
  let col = 0;
  for (let at = 0; at < cols; at++) {
    const cell = line.getCell(at);
    const drawn = cell && drawnCell(cell);
    if (!drawn) continue;
    if (col !== at) painted += `\x1b[${at + 1}G`;
    painted += (drawn.style === style ? '' : drawn.style) + drawn.text;
    style = drawn.style;
    col = drawn.text === ERASE ? at : at + cell.getWidth();
  }
  return { painted: style === '' ? painted : `${painted}\x1b[m`, col };
}

/** Null for what needs no drawing: the second half of a wide character, and what is empty. */
function drawnCell(cell: XTermCell): { style: string; text: string } | null {
  if (cell.getWidth() === 0) return null;
  const chars = cell.getChars();
  if (chars !== '') return { style: styleSequence(cell), text: chars };
  const behind = background(cell);
  return behind === '' ? null : { style: `\x1b[0;${behind}m`, text: ERASE };
}

/** Makes the place, look and characters that were saved the present ones, and has them saved. */
function savedBy(
  save: string,
  { savedX, savedY, ybase, savedCurAttrData, savedCharset }: ReturnType<typeof internalsOf>['buffer'],
): string {
  const place = move(Math.max(0, savedY - ybase), savedX) + styleSequence(savedCurAttrData);
  return place + (isDrawing(savedCharset) ? LINE_DRAWING + save + ASCII : save);
}

/** Scrolling margins, and what is counted from them. */
function margins(terminal: XTerm): string {
  const { scrollTop, scrollBottom } = internalsOf(terminal).buffer;
  const whole = scrollTop === 0 && scrollBottom === terminal.rows - 1;
  return (whole ? '' : `\x1b[${scrollTop + 1};${scrollBottom + 1}r`) + (terminal.modes.originMode ? '\x1b[?6h' : '');
}

/** Puts the cursor in its place. Behind a full line, and before a combining character, it is only by printing. */
function cursor(terminal: XTerm): string {
  const { buffer, _inputHandler: handler } = internalsOf(terminal);
  const { modes, buffer: buffers, cols } = terminal;
  const { cursorX, cursorY, baseY } = buffers.active;
  const row = cursorY - (modes.originMode ? buffer.scrollTop : 0);
  const line = buffers.active.getLine(baseY + cursorY);
  const wide = line?.getCell(cursorX - 1)?.getWidth() === 0 ? 1 : 0;
  const last = line?.getCell(cursorX - 1 - wide);
  const joins = handler._parser.precedingJoinState !== 0;
  const { sets, restored } = charsets(terminal);
  const look = styleSequence(handler._curAttrData);
  const insert = modes.insertMode ? INSERT : '';
  if (!last?.getChars() || (cursorX < cols && !joins)) return sets + look + insert + move(row, Math.min(cursorX, cols - 1));
  const place = move(row, cursorX - 1 - wide);
  const again = place + styleSequence(last as XTermCell) + last.getChars();
  if (joins) return sets + place + (insert && `\x1b[${1 + wide}P${insert}`) + look + last.getChars();
  return restored ? sets + again + look + insert : again + sets + look + insert;
}

/**
 * Line drawing instead of letters, in the two sets that programs use; `restored` when it takes restoring the cursor, since the characters
 * in use came with that and are not those of the sets.
 */
function charsets(terminal: XTerm): { sets: string; restored: boolean } {
  const { glevel, _charsets: sets, charset } = internalsOf(terminal)._charsetService;
  const restored = isDrawing(charset) !== isDrawing(sets[glevel]);
  const chosen = [isDrawing(sets[0]) && LINE_DRAWING, isDrawing(sets[1]) && '\x1b)0', glevel === 1 && '\x0e', restored && RESTORE];
  return { sets: chosen.filter(Boolean).join(''), restored };
}

/** Whether letters are drawn as lines (DEC special graphics). */
export function isDrawing(charset: Charset): boolean {
  return charset?.q === '─';
}

function modes(terminal: XTerm): string {
  const { coreService, coreMouseService } = internalsOf(terminal);
  const { cursorStyle, cursorBlink } = coreService.decPrivateModes;
  const { modes } = terminal;
  return [
    modes.applicationCursorKeysMode ? '\x1b[?1h' : '',
    modes.applicationKeypadMode ? '\x1b[?66h' : '',
    modes.bracketedPasteMode ? '\x1b[?2004h' : '',
    modes.reverseWraparoundMode ? '\x1b[?45h' : '',
    modes.sendFocusMode ? '\x1b[?1004h' : '',
    modes.wraparoundMode ? '' : '\x1b[?7l',
    MOUSE[modes.mouseTrackingMode],
    ENCODINGS[coreMouseService.activeEncoding] ?? '',
    cursorStyle ? `\x1b[${CURSORS[cursorStyle] + (cursorBlink ? 0 : 1)} q` : '',
    coreService.isCursorHidden ? '\x1b[?25l' : '',
  ].join('');
}

function move(row: number, col: number): string {
  return `\x1b[${row + 1};${col + 1}H`;
}
