import { internalsOf, type XTerm } from './xterm.js';

/** Sequences that are repeated as often as their parameter says, however often that is, and what does them. */
const REPEATED = {
  L: 'insertLines',
  M: 'deleteLines',
  S: 'scrollUp',
  T: 'scrollDown',
  I: 'cursorForwardTab',
  Z: 'cursorBackwardTab',
  b: 'repeatPrecedingCharacter',
} as const;

/**
 * Keeps ten bytes of output from two billion turns of a loop: what is to be done more often than the screen has lines, or
 * characters, is done as often as that, which comes to the same.
 */
export function boundRepeats(terminal: XTerm): void {
  const { _inputHandler: handler } = internalsOf(terminal);
  for (const [final, name] of Object.entries(REPEATED)) {
    terminal.parser.registerCsiHandler({ final }, ([count]) => {
      const most = name === 'repeatPrecedingCharacter' ? terminal.cols * terminal.rows : Math.max(terminal.cols, terminal.rows);
      if (typeof count !== 'number' || count <= most) return false;
      return handler[name]({ params: [most], length: 1 });
    });
  }
}

/** Characters without a width of their own that are kept behind one another: more than any script needs. */
const MOST_JOINED = 32;

/** Keeps one cell from growing with every accent that is put on it: of those that follow each other the first ones are drawn. */
export function boundJoins(terminal: XTerm): void {
  const { _inputHandler: handler } = internalsOf(terminal);
  let joined = 0;
  handler._parser.setPrintHandler((codes, start, end) => {
    let kept = start;
    for (let at = start; at < end; at++) {
      const code = codes[at] as number;
      joined = code < 0x7f || handler._unicodeService.wcwidth(code) > 0 ? 0 : joined + 1;
      if (joined <= MOST_JOINED) codes[kept++] = code;
    }
    if (kept > start) handler.print(codes, start, kept);
  });
}

/**
 * Erasing up to the last column of the last line (CSI 1 J) looks for a line below it. Before anything has scrolled there is none, which
 * xterm fails at: here the line is erased by itself, and then all above it.
 */
export function mendErasing(terminal: XTerm): void {
  for (const prefix of ['', '?']) {
    terminal.parser.registerCsiHandler({ prefix, final: 'J' }, ([how]) => {
      const { buffer, _inputHandler: handler } = internalsOf(terminal);
      if (how !== 1 || buffer.x < terminal.cols - 1 || buffer.lines.get(buffer.y + 1)) return false;
      handler.eraseInLine({ params: [2], length: 1 }, prefix === '?');
      if (buffer.y === 0) return true;
      buffer.y--;
      handler.eraseInDisplay({ params: [1], length: 1 }, prefix === '?');
      buffer.y++;
      return true;
    });
  }
}
