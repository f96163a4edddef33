/** How text looks: a colour is `0` to `15` by its place in the palette, or `#rrggbb`. */
export interface Style {
  fg: string | null;
  bg: string | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
  strike: boolean;
}

export const PLAIN: Style = {
  fg: null,
  bg: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  strike: false,
};

/** Text of one look. */
export interface Piece {
  text: string;
  style: Style;
}

/** An escape sequence that has not ended after so many characters is none. */
const MAX_SEQUENCE = 4_096;

const ESC = '\x1b';

/** A whole escape sequence (ECMA-48, 5.3 to 5.6): CSI, a string such as OSC, or a short one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about.
const SEQUENCE = /^\x1b(?:\[([0-?]*)([ -/]*[@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~])/;

/** Control characters that show nothing; tab, line feed and carriage return stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about.
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** Takes colours and styles (SGR) out of the output of a program that thinks it writes to a terminal; all else is passed over. */
export class AnsiReader {
  #style = PLAIN;
  #pending = '';

  /** The text with its looks. A sequence that is cut short waits for its end. */
  read(chunk: string): Piece[] {
    const text = this.#pending + chunk;
    this.#pending = '';
    const pieces: Piece[] = [];
    let at = 0;
    for (let begin = text.indexOf(ESC); begin !== -1; begin = text.indexOf(ESC, at)) {
      this.#push(pieces, text.slice(at, begin));
      const rest = text.slice(begin, begin + MAX_SEQUENCE);
      const found = SEQUENCE.exec(rest);
      if (found === null && rest.length < MAX_SEQUENCE && isBegun(rest)) {
        this.#pending = rest;
        return pieces;
      }
      if (found?.[2] === 'm') this.#style = styleAfter(this.#style, found[1] ?? '');
      at = begin + (found?.[0].length ?? 1);
    }
    this.#push(pieces, text.slice(at));
    return pieces;
  }

  #push(pieces: Piece[], text: string): void {
    const shown = text.replace(CONTROLS, '');
    if (shown !== '') pieces.push({ text: shown, style: this.#style });
  }
}

/** Whether more characters may make it a sequence. */
function isBegun(rest: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about.
  return /^\x1b(?:$|\[[0-?]*[ -/]*$|[\]PX^_][^\x07\x1b]*\x1b?$|[ -/]+$)/.test(rest);
}

/** The style after an SGR sequence (ECMA-48, 8.3.117; colours beyond 16 as xterm has them). */
function styleAfter(before: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map((code) => Number(code) || 0);
  let style = before;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] as number;
    if (code === 38 || code === 48) {
      const [color, used] = extendedColor(codes, at + 1);
      if (color !== null) style = { ...style, [code === 38 ? 'fg' : 'bg']: color };
      at += used;
    } else style = code === 0 ? PLAIN : { ...style, ...simpleChange(code) };
  }
  return style;
}

const FLAGS: Record<number, Partial<Style>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { fg: null },
  49: { bg: null },
};

function simpleChange(code: number): Partial<Style> {
  if (code >= 30 && code <= 37) return { fg: String(code - 30) };
  if (code >= 40 && code <= 47) return { bg: String(code - 40) };
  if (code >= 90 && code <= 97) return { fg: String(code - 82) };
  if (code >= 100 && code <= 107) return { bg: String(code - 92) };
  return FLAGS[code] ?? {};
}

/** A colour of 256 or of all, and how many codes tell it. */
function extendedColor(codes: number[], at: number): [color: string | null, used: number] {
  if (codes[at] === 5) return [paletteColor(codes[at + 1] ?? 0), 2];
  if (codes[at] !== 2) return [null, 0];
  const [red = 0, green = 0, blue = 0] = codes.slice(at + 1, at + 4);
  return [hex(red, green, blue), 4];
}

function paletteColor(index: number): string | null {
  if (index > 255) return null;
  if (index < 16) return String(index);
  if (index >= 232) return hex(8 + (index - 232) * 10, 8 + (index - 232) * 10, 8 + (index - 232) * 10);
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

const hex = (...parts: number[]) => `#${parts.map((part) => Math.min(255, part).toString(16).padStart(2, '0')).join('')}`;
