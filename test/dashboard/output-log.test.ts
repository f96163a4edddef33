import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textOf } from '../../web/process/log-text.js';
import { MAX_CHARACTERS, MAX_LINE_CHARACTERS, MAX_LINES, OutputLog } from '../../web/process/output-log.js';
import { matchesIn, OutputSearch } from '../../web/process/output-search.js';
import { rowStarts, TextRows } from '../../web/process/text-rows.js';

const bytes = (text: string) => new TextEncoder().encode(text);

function logOf(...chunks: string[]): OutputLog {
  const log = new OutputLog();
  for (const chunk of chunks) log.append('stdout', bytes(chunk));
  return log;
}

const lines = (log: OutputLog) => Array.from({ length: log.end - log.first }, (_, index) => log.line(log.first + index));
const texts = (log: OutputLog) => lines(log).map(({ text }) => text);

test('chunks make lines wherever they are cut, inside a character or an escape sequence too', () => {
  const text = 'grün 日本 🙂\n\x1b[1;31mred\x1b[0m plain\n\x1b]8;;http://a\x07link\x1b]8;;\x07\nlast';
  fc.assert(
    fc.property(fc.array(fc.nat(bytes(text).length)), (cuts) => {
      const log = new OutputLog();
      const places = [0, ...cuts.sort((a, b) => a - b), bytes(text).length];
      for (const [index, end] of places.slice(1).entries()) log.append('stdout', bytes(text).slice(places[index], end));
      expect(texts(log)).toEqual(['grün 日本 🙂', 'red plain', 'link', 'last']);
      expect(log.line(1).spans).toEqual([
        { at: 0, style: expect.objectContaining({ fg: '1', bold: true }) },
        { at: 3, style: expect.objectContaining({ fg: null, bold: false }) },
      ]);
    }),
  );
});

test('streams keep their lines apart, and a line goes on as long as it is the last', () => {
  const log = logOf('a');
  log.append('stdout', bytes('b'));
  log.append('stderr', bytes('oops\n'));
  log.append('stdout', bytes('c\n'));
  expect(lines(log).map(({ stream, text }) => [stream, text])).toEqual([
    ['stdout', 'ab'],
    ['stderr', 'oops'],
    ['stdout', 'c'],
  ]);
});

test('a carriage return begins the line anew, and one before a line feed does nothing', () => {
  expect(texts(logOf('1%\r2', '%\r', '100%\ndos\r', '\nx\r\n\ny'))).toEqual(['100%', 'dos', 'x', '', 'y']);
});

test('colours: sixteen, 256 and all, bright ones, and what is unknown is passed over', () => {
  const log = logOf('\x1b[38;5;208ma\x1b[48;2;1;2;3mb\x1b[0;94mc\x1b[99md\x1b[?25l\x1b[2Ke\x07');
  expect(log.line(0).text).toBe('abcde');
  expect(log.line(0).spans?.map(({ at, style }) => [at, style.fg, style.bg])).toEqual([
    [0, '#ff8700', null],
    [1, '#ff8700', '#010203'],
    [2, '12', null],
    [3, '12', null],
  ]);
});

test('the newest lines are held, whichever limit they meet, and keep their numbers', () => {
  const many = logOf(...Array.from({ length: 25 }, (_, index) => `${index}\n`.repeat(10_000)));
  expect([many.first, many.end, many.full]).toEqual([50_000, 250_000, true]);
  expect([many.line(50_000).text, many.line(249_999).text]).toEqual(['5', '24']);
  const long = logOf(...Array.from({ length: 40 }, () => 'x'.repeat(1024 * 1024)));
  expect(lines(long).every(({ text }) => text.length === MAX_LINE_CHARACTERS)).toBe(true);
  expect((long.end - long.first) * MAX_LINE_CHARACTERS).toBe(MAX_CHARACTERS);
  expect(textOf(long)).toBe('x'.repeat(MAX_CHARACTERS));
  expect(MAX_LINES).toBe(200_000);
});

test('rows of a pane: each line takes as many as it needs, as the log grows and gives up', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', 'b\n', '日', '\t', '🙂') })),
      fc.integer({ min: 20, max: 30 }),
      (chunks, cols) => {
        const log = new OutputLog();
        const rows = new TextRows(log, cols);
        for (const chunk of chunks) {
          log.append('stdout', bytes(chunk));
          rows.update();
        }
        const expected = lines(log).flatMap(({ text }, number) => rowStarts(text, cols).map((_, part) => ({ number, part })));
        expect(Array.from({ length: rows.count }, (_, row) => rows.at(row))).toEqual(expected);
      },
    ),
  );
  expect(rowStarts('日本日本', 4)).toEqual([0, 2]);
  expect(rowStarts('a\tb', 8)).toEqual([0, 2]);
  expect(rowStarts('x'.repeat(10), 4)).toEqual([0, 4, 8]);
});

test('a search follows the log, and steps around its ends', () => {
  const log = logOf('Error one\nfine\nan er');
  const search = new OutputSearch(log, 'error');
  search.update();
  expect(search.count).toBe(1);
  log.append('stdout', bytes('ror two\n'));
  search.update();
  search.update();
  expect(search.count).toBe(2);
  expect([search.step(true, 1), search.step(true, 0), search.step(false, 0)]).toEqual([2, 0, 2]);
  expect(search.place).toBe(2);
  expect(matchesIn('aXax', 'ax')).toEqual([
    [0, 2],
    [2, 4],
  ]);
});
