import { describe, expect, test } from 'vitest';
import { ScreenTerminal } from '../../src/process/screen-terminal.js';
import { TerminalHistory } from '../../src/process/terminal-history.js';
import { UnfinishedSequence } from '../../src/process/unfinished-sequence.js';

const SIZE = { cols: 80, rows: 24 };

describe('hostile output', () => {
  test.each(['L', 'M', 'S', 'T', 'I', 'Z', '@', 'P', 'X', 'A', 'B', 'C', 'D', "'}", "'~", ' @', ' A'])(
    'two billion times CSI %s is done at once',
    async (final) => {
      const screen = new ScreenTerminal(SIZE);
      await screen.write(Buffer.from(`one\r\ntwo\x1b[2147483647${final}\x1b[9999999999${final}`));
      await screen.write(Buffer.from('\x1b[10;1Hstill here'));
      expect(screen.show().text).toContain('still here');
    },
  );

  test('a character that is to be repeated two billion times fills the screen', async () => {
    const screen = new ScreenTerminal({ cols: 4, rows: 2 });
    await screen.write(Buffer.from('x\x1b[2147483647b'));
    expect(screen.show().text).toMatch(/^xxxx\nx+$/);
  });

  test.each(['\u0301', '\u200d', '\ufe0f', '\u{e0100}'])('a cell does not grow with all that is put on it: %j', async (mark) => {
    const screen = new ScreenTerminal(SIZE);
    await screen.write(Buffer.from(`e\u0301${'a'.concat(mark.repeat(10_000))}`));
    for (let more = 0; more < 10; more++) await screen.write(Buffer.from(mark.repeat(1_000)));
    await screen.write(Buffer.from(`b\u0301`));
    const { text } = screen.show();
    expect(text.replaceAll(mark, '')).toBe('e\u0301ab\u0301'.replaceAll(mark, ''));
    expect(text.startsWith(`e\u0301a${mark.repeat(4)}`) && text.endsWith('b\u0301')).toBe(true);
    expect(text.length).toBeLessThan(100);
  });

  test.each(['\x1b[1J', '\x1b[?1J'])(
    'all up to the last column of the last line is erased before anything has scrolled: %j',
    async (erase) => {
      for (const { cols, rows } of [SIZE, { cols: 1, rows: 2 }, { cols: 3, rows: 1 }]) {
        const screen = new ScreenTerminal({ cols, rows });
        await screen.write(Buffer.from(`x\x1b[${rows};${cols}Hx${erase}`));
        expect(screen.show()).toMatchObject({ text: '', cursor: { row: rows - 1, col: cols } });
        await screen.write(Buffer.from('\x1b[Hw'));
        expect(screen.show().text).toBe('w');
      }
    },
  );

  test('what takes too long is given up: two bytes may touch every cell', async () => {
    const screen = new ScreenTerminal({ cols: 65_535, rows: 3 });
    const chunk = Buffer.from('\x1bc'.repeat(1024 * 1024));
    expect(await screen.write(chunk, performance.now() + 50)).toBe(false);
    expect(await screen.write(Buffer.from('\x1bchere'))).toBe(true);
    expect(screen.show().text).toBe('here');
  });

  test.each([
    ['high and narrow', { cols: 3, rows: 65_535 }, { cols: 65_535, rows: 3 }],
    ['of few cells', { cols: 1, rows: 65_535 }, { cols: 65_535, rows: 1 }],
    ['not that narrow', { cols: 100, rows: 2_500 }, { cols: 2_500, rows: 100 }],
  ])('a terminal that goes from one extreme to the other and back takes no more than it shows: %s', async (_, high, wide) => {
    const screen = new ScreenTerminal(high);
    await screen.write(Buffer.from('above\r\n'.repeat(high.rows)));
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (const size of [wide, high, wide, SIZE, high, SIZE, wide]) {
      screen.resize(size);
      await screen.write(Buffer.from('\x1b[2J\x1b[Hx'));
      expect(screen.show()).toMatchObject({ text: 'x', cursor: { row: 0 } });
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    }
    expect(most - before).toBeLessThan(100 * 1024 * 1024);
  });

  test('the event loop turns while much is drawn', async () => {
    const screen = new ScreenTerminal(SIZE);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await screen.write(Buffer.from('\x1bc'.repeat(5_000)));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });
});

describe('what is left unfinished', () => {
  const left = (...chunks: string[]) => {
    const sequence = new UnfinishedSequence();
    for (const chunk of chunks) sequence.push(Buffer.from(chunk, 'latin1'));
    return Buffer.from(sequence.bytes).toString('latin1');
  };

  test.each([
    [['text'], ''],
    [['\x1b'], '\x1b'],
    [['a\x1b[', '3', '8;5'], '\x1b[38;5'],
    [['a\x1b[', '3', '1mb'], ''],
    [['\x1b[3\x1b]0;ti'], '\x1b]0;ti'],
    [['\x1b]0;title\x07x'], ''],
    [['\x1b]0;title', '\x1b'], '\x1b'],
    [['\x1b]0;title\x1b', '\\'], ''],
    [['\x1bP1$r', 'x\x07y'], ''],
    [['\x1b(', 'B'], ''],
    [['\x1b('], '\x1b('],
    [['\x1b[1\x18'], ''],
    [['\xe2'], '\xe2'],
    [['\xe2', '\x82'], '\xe2\x82'],
    [['\xe2', '\x82', '\xac'], ''],
    [['\xe2', 'x'], ''],
    [['\xf0\x9f', '\x98'], '\xf0\x9f\x98'],
    [[`\x1b]52;${'x'.repeat(10_000)}`, 'yyy'], '\x1b]'],
  ] as const)('%j', (chunks, rest) => {
    expect(left(...chunks)).toBe(rest);
  });
});

describe('the past of a terminal', () => {
  test('knows sizes and modes of every moment, also where a sequence came in two parts', () => {
    const past = new TerminalHistory(SIZE);
    const print = (seq: number, text: string) => past.printed(seq, Buffer.from(text));
    print(1, 'x\x1b[?1049h\x1b[?1;2004hy');
    past.resized(2, { cols: 100, rows: 30 });
    print(2, 'z\x1b[?10');
    print(3, '49l\x1b[?777h');
    past.resized(4, { cols: 101, rows: 31 });
    past.resized(4, { cols: 102, rows: 32 });
    print(4, '\x1bc');
    expect([1, 2, 3, 4].map((seq) => past.sizeAt(seq).cols)).toEqual([80, 100, 100, 102]);
    expect([...past.modesBefore(1)]).toEqual([]);
    expect([...past.modesBefore(2)]).toEqual([
      [1049, true],
      [1, true],
      [2004, true],
    ]);
    expect([...past.modesBefore(4)]).toEqual([
      [1, true],
      [2004, true],
      [1049, false],
    ]);
    expect([...past.modesBefore(5)]).toEqual([]);
  });

  test('is bounded, and keeps what it led to', () => {
    const past = new TerminalHistory(SIZE);
    past.printed(1, Buffer.from('\x1b[?1049h'));
    for (let seq = 2; seq < 10_000; seq++) {
      past.printed(seq, Buffer.from(seq % 2 ? '\x1b[?25h' : '\x1b[?25l'));
      past.resized(seq, { cols: seq, rows: 24 });
    }
    expect(past.modesBefore(10_000)).toEqual(
      new Map([
        [1049, true],
        [25, true],
      ]),
    );
    expect(past.sizeAt(9_999).cols).toBe(9_999);
    expect(past.sizeAt(1).cols).toBeGreaterThan(9_000);
  });
});
