import { mendErasing } from '../../src/process/screen-bounds.js';
import { isDrawing } from '../../src/process/screen-paint.js';
import { internalsOf, openXTerm, type XTerm } from '../../src/process/xterm.js';
import type { TtySize } from '../../src/protocol/index.js';

/** A terminal as a viewer has it. */
export function viewer(size: TtySize): XTerm {
  const terminal = openXTerm(size, 1_000);
  mendErasing(terminal);
  return terminal;
}

export function feed(terminal: XTerm, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => terminal.write(bytes, resolve));
}

/** All that a terminal shows, and how it takes input: cell by cell, with attributes. */
export function shownBy(terminal: XTerm): unknown {
  const { coreService, coreMouseService, buffer, buffers, _charsetService: sets } = internalsOf(terminal);
  const { active } = terminal.buffer;
  const { synchronizedOutputMode: _, ...modes } = terminal.modes;
  return {
    alternate: active.type === 'alternate',
    cursor: [active.cursorY, active.cursorX, coreService.isCursorHidden],
    cursor_style: [coreService.decPrivateModes.cursorStyle, coreService.decPrivateModes.cursorBlink],
    modes,
    mouse_encoding: coreMouseService.activeEncoding,
    margins: [buffer.scrollTop, buffer.scrollBottom],
    drawing: [sets.glevel, ...[sets._charsets[0], sets._charsets[1], sets.charset].map(isDrawing)],
    saved_drawing: [buffer, buffers.normal].map(({ savedCharset }) => isDrawing(savedCharset)),
    rows: Array.from({ length: terminal.rows }, (_, row) => rowOf(terminal, active.baseY + row)),
  };
}

function rowOf(terminal: XTerm, at: number): string[] {
  const line = terminal.buffer.active.getLine(at);
  const cells: string[] = [];
  for (let col = 0; col < terminal.cols; col++) {
    const cell = line?.getCell(col);
    if (!cell) throw new Error(`no cell ${at} ${col}`);
    const style = [
      cell.getFgColorMode(),
      cell.getFgColor(),
      cell.getBgColorMode(),
      cell.getBgColor(),
      cell.isBold(),
      cell.isDim(),
      cell.isItalic(),
      cell.isUnderline(),
      cell.isInverse(),
      cell.isStrikethrough(),
      cell.isOverline(),
      cell.isBlink(),
      cell.isInvisible(),
    ];
    // An empty cell shows its background alone; a blank shows that it is inverse, underlined or struck through, too.
    const chars = cell.getChars();
    cells.push(chars === '' ? `bg ${cell.getBgColorMode()} ${cell.getBgColor()}` : `${chars} ${style.join(' ')}`);
  }
  return cells;
}
