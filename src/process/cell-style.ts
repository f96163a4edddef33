/** How one cell looks, as the terminal keeps it. */
export interface CellStyle {
  isBold(): number;
  isDim(): number;
  isItalic(): number;
  isBlink(): number;
  isInverse(): number;
  isInvisible(): number;
  isStrikethrough(): number;
  isOverline(): number;
  getUnderlineStyle(): number;
  getUnderlineColor(): number;
  getUnderlineColorMode(): number;
  getFgColor(): number;
  getFgColorMode(): number;
  getBgColor(): number;
  getBgColorMode(): number;
}

/** The sequence that makes what is printed next look like that, whatever came before (SGR). */
export function styleSequence(style: CellStyle): string {
  const underline = style.getUnderlineStyle();
  const codes = [
    '0',
    style.isBold() && '1',
    style.isDim() && '2',
    style.isItalic() && '3',
    underline > 0 && `4:${underline}`,
    style.isBlink() && '5',
    style.isInverse() && '7',
    style.isInvisible() && '8',
    style.isStrikethrough() && '9',
    style.isOverline() && '53',
    color(38, style.getFgColorMode(), style.getFgColor()),
    background(style),
    underline > 0 && color(58, style.getUnderlineColorMode(), style.getUnderlineColor()),
  ];
  return `\x1b[${codes.filter(Boolean).join(';')}m`;
}

/** The colour behind a cell, as part of a sequence; empty for the default. */
export function background(style: CellStyle): string {
  return color(48, style.getBgColorMode(), style.getBgColor());
}

/** What a colour is: the default, one of the first 16 by its short code, one of 256, or red, green and blue. */
const [SHORT, PALETTE, RGB] = [1 << 24, 2 << 24, 3 << 24];

function color(which: 38 | 48 | 58, mode: number, value: number): string {
  if (mode === SHORT) return String(value < 8 ? which - 8 + value : which + 52 + value - 8);
  if (mode === PALETTE) return `${which};5;${value}`;
  return mode === RGB ? `${which};2;${(value >> 16) & 255};${(value >> 8) & 255};${value & 255}` : '';
}
