import { createRequire } from 'node:module';
import type { Unicode11Addon } from '@xterm/addon-unicode11';
import type { Terminal } from '@xterm/headless';
import type { TtySize } from '../protocol/index.js';
import type { CellStyle } from './cell-style.js';

/** A control sequence's parameters, as the terminal's own handlers take them. */
interface Params {
  params: ArrayLike<number>;
  length: number;
}

type Handler = (params: Params) => boolean;

/** @param respect whether characters that are protected stay */
type Eraser = (params: Params, respect: boolean) => boolean;

type Print = (codes: Uint32Array, start: number, end: number) => void;

/** What is drawn instead of ASCII; undefined for ASCII. */
export type Charset = Record<string, string> | undefined;

interface InternalBuffer {
  scrollTop: number;
  scrollBottom: number;
  ybase: number;
  /** The cursor, from the top of the screen; behind a full line x is the number of columns. */
  x: number;
  y: number;
  lines: { get(at: number): unknown };
  savedX: number;
  savedY: number;
  savedCurAttrData: CellStyle;
  savedCharset: Charset;
}

/**
 * What a terminal knows and its interface does not tell. The version of the package is exact, and tests of the screen look at
 * each of these.
 */
interface Internals {
  /** Takes output at once. */
  writeSync(bytes: Uint8Array): void;
  coreService: {
    isCursorHidden: boolean;
    decPrivateModes: { cursorStyle?: 'block' | 'underline' | 'bar'; cursorBlink?: boolean };
  };
  coreMouseService: { activeEncoding: 'DEFAULT' | 'SGR' | 'SGR_PIXELS' };
  buffer: InternalBuffer;
  buffers: { normal: InternalBuffer };
  /** `charset` is in use: that of the level, or one that came back with a saved cursor. */
  _charsetService: { glevel: number; _charsets: Charset[]; charset: Charset };
  _inputHandler: {
    insertLines: Handler;
    deleteLines: Handler;
    scrollUp: Handler;
    scrollDown: Handler;
    cursorForwardTab: Handler;
    cursorBackwardTab: Handler;
    repeatPrecedingCharacter: Handler;
    eraseInDisplay: Eraser;
    eraseInLine: Eraser;
    _curAttrData: CellStyle;
    /** Draws the characters `codes[start..end)`. */
    print: Print;
    _unicodeService: { wcwidth(code: number): number };
    _parser: { precedingJoinState: number; setPrintHandler(print: Print): void };
  };
}

/** A terminal without a window, which understands output as xterm does. */
export type XTerm = Terminal;

/** One of its two screens. */
export type XTermBuffer = Terminal['buffer']['active'];

/** A cell with all it knows: its interface leaves some out. */
export type XTermCell = NonNullable<ReturnType<NonNullable<ReturnType<XTermBuffer['getLine']>>['getCell']>> & CellStyle;

export interface XTermLine {
  readonly isWrapped: boolean;
  getCell(col: number): XTermCell | undefined;
}

const require = createRequire(import.meta.url);

/** The packages, loaded when they are first asked for: most gateways show no screen. */
function packages() {
  const headless = require('@xterm/headless') as { Terminal: typeof Terminal };
  const unicode = require('@xterm/addon-unicode11') as { Unicode11Addon: typeof Unicode11Addon };
  return { headless, unicode };
}

/** Loads what screens need, for a program that may outlive the files it was started from. */
export function loadXTerm(): void {
  packages();
}

/** Makes a terminal. */
export function openXTerm(size: Partial<TtySize>, scrollback: number): XTerm {
  const { headless, unicode } = packages();
  const terminal = new headless.Terminal({ ...size, scrollback, allowProposedApi: true, logLevel: 'off' });
  // Emoji are two cells wide, as programs of today take them.
  terminal.loadAddon(new unicode.Unicode11Addon() as never);
  terminal.unicode.activeVersion = '11';
  return terminal;
}

/** What is inside of a terminal. */
export function internalsOf(terminal: XTerm): Internals {
  return (terminal as unknown as { _core: Internals })._core;
}
