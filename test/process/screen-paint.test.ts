import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDrawing } from '../../src/process/screen-paint.js';
import { ScreenTerminal } from '../../src/process/screen-terminal.js';
import { internalsOf, type XTerm } from '../../src/process/xterm.js';
import { feed, shownBy, viewer } from './screen-model.js';

const SIZE = { cols: 20, rows: 6 };

const number = fc.integer({ min: 0, max: 25 });
const csi = (final: string, prefix = '') => fc.array(number, { maxLength: 2 }).map((values) => `\x1b[${prefix}${values.join(';')}${final}`);

/** What programs print: words, wide and combining characters, moves, colours, modes. */
const token = fc.oneof(
  { arbitrary: fc.stringMatching(/^[a-z ]{1,12}$/), weight: 6 },
  fc.constantFrom('\r\n', '\n', '\r', '\b', '\t', '漢字', '😀', 'e\u0301', 'n\u0303o', 'é', '─│', '\x0e', '\x0f'),
  fc.constantFrom('\x1b(0', '\x1b(B', '\x1b)0', '\x1b7', '\x1b8', '\x1bM', '\x1bD', '\x1bE', '\x1b=', '\x1b>', '\x1b#8'),
  ...['H', 'A', 'B', 'C', 'D', 'G', 'd', 'J', 'K', 'L', 'M', 'P', '@', 'X', 'S', 'T', 'r', 'I', 'Z', 'b'].map((final) => csi(final)),
  fc
    .array(
      fc.constantFrom(
        '0',
        '1',
        '2',
        '3',
        '4',
        '5',
        '7',
        '8',
        '9',
        '22',
        '24',
        '27',
        '31',
        '42',
        '39',
        '49',
        '95',
        '103',
        '38;5;200',
        '48;5;17',
        '38;2;1;2;3',
      ),
      {
        minLength: 1,
        maxLength: 3,
      },
    )
    .map((codes) => `\x1b[${codes.join(';')}m`),
  fc
    .tuple(fc.constantFrom(1, 6, 7, 9, 25, 45, 1000, 1002, 1003, 1004, 1006, 1049, 2004), fc.constantFrom('h', 'l'))
    .map(([mode, how]) => `\x1b[?${mode}${how}`),
  fc.constantFrom('\x1b[4h', '\x1b[4l', '\x1b[2 q', '\x1b[5 q', '\x1b]0;title\x07', '\x1b]2;other\x1b\\', '\x1bP1$r\x1b\\', '\x1b[!p'),
);

const stream = fc.array(token, { maxLength: 40 }).map((tokens) => Buffer.from(tokens.join('')));

/** Behind the end of a line whose last cell was emptied since: no output brings a cursor there but what had brought it. */
function behindNothing({ cols, buffer: { active } }: XTerm): boolean {
  return (
    active.cursorX === cols &&
    active
      .getLine(active.baseY + active.cursorY)
      ?.getCell(cols - 1)
      ?.getChars() === ''
  );
}

/** Characters that a saved cursor brought which is saved no more: no output makes them those in use. */
function ofNothingSaved(terminal: XTerm): boolean {
  const { _charsetService: sets, buffer } = internalsOf(terminal);
  const used = isDrawing(sets.charset);
  return used !== isDrawing(sets._charsets[sets.glevel]) && used !== isDrawing(buffer.savedCharset);
}

describe('the paint of a screen', () => {
  test('makes another terminal show the same, wherever the output is cut, and what follows goes on from there', async () => {
    await fc.assert(
      fc.asyncProperty(stream, fc.nat(), async (bytes, place) => {
        const cut = bytes.length === 0 ? 0 : place % (bytes.length + 1);
        const screen = new ScreenTerminal(SIZE);
        await screen.write(bytes.subarray(0, cut));
        const [first, late] = [viewer(SIZE), viewer(SIZE)];
        await feed(first, bytes.subarray(0, cut));
        fc.pre(!behindNothing(first) && !ofNothingSaved(first));
        await feed(late, screen.paint());
        expect(shownBy(late)).toEqual(shownBy(first));
        // What comes next may end what was begun.
        await feed(first, bytes.subarray(cut));
        await feed(late, bytes.subarray(cut));
        expect(shownBy(late)).toEqual(shownBy(first));
      }),
      { numRuns: 200 },
    );
  });
});
