import { describe, expect, test } from 'vitest';
import { DetachWatch, detachKeys } from '../../src/cli/detach-keys.js';
import { duration, durationText } from '../../src/cli/duration.js';
import { LastLines } from '../../src/cli/last-lines.js';
import { LeftModes } from '../../src/cli/left-modes.js';
import { provideBase64 } from '../../src/cli/provide-base64.js';
import { decodeBytes } from '../../src/client/decode-event.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const text = (part: Uint8Array) => Buffer.from(part).toString('latin1');

describe('detach keys', () => {
  test('are read', () => {
    expect(detachKeys('ctrl-p,ctrl-q')).toEqual([16, 17]);
    expect(detachKeys('ctrl-],d')).toEqual([29, 100]);
    expect(detachKeys('')).toEqual([]);
    for (const bad of ['ctrl-1', 'abc', ',', 'ctrl-p,']) expect(() => detachKeys(bad), bad).toThrow(/keys separated by commas/);
  });

  test('are found however they arrive, and what only begins like them is sent', () => {
    const watch = new DetachWatch([16, 17]);
    expect(text(watch.take(bytes('a\x10')).send)).toBe('a');
    expect(watch.holds).toBe(true);
    expect(text(watch.take(bytes('b\x10\x10')).send)).toBe('\x10b\x10');
    expect(text(watch.release())).toBe('\x10');
    const left = watch.take(bytes('c\x10\x11d'));
    expect([text(left.send), left.detached]).toEqual(['c', true]);
  });
});

describe('times', () => {
  test.each([
    ['500', 500],
    ['500ms', 500],
    ['1.5s', 1_500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
  ])('%s', (given, wanted) => {
    expect(duration(0, 1e9)(given)).toBe(wanted);
  });

  test('that are none are refused', () => {
    for (const bad of ['', 's', '-1s', '1w', '1 s', '2d']) expect(() => duration(0, 86_400_000)(bad), bad).toThrow(/such as 500ms/);
  });

  test('are shown', () => {
    expect([900, 119_000, 3_600_000, 86_400_000 * 3].map(durationText)).toEqual(['1 s', '119 s', '60 min', '3 d']);
  });
});

describe('what a program leaves on in a terminal', () => {
  test('is taken back, also when it was told in pieces', () => {
    const modes = new LeftModes();
    for (const part of ['a\x1b[?10', '49;1000h\x1b', '[?25l', '\x1b[?1000lb\x1b[2J']) modes.note(bytes(part));
    expect(modes.full_screen).toBe(true);
    expect(modes.reset()).toBe('\x1b[?1049l\x1b[?25h\x1b[0m');
    expect(modes.reset()).toBe('');
  });
});

describe('the last lines', () => {
  test.each<[number, string[], string]>([
    [2, ['a\nb\n', 'c\n'], 'b\nc\n'],
    [2, ['a\nb\nc'], 'b\nc'],
    [1, ['a', 'b', 'c'], 'abc'],
    [1, ['a\n', 'b', 'c\n'], 'bc\n'],
    [0, ['a\n'], ''],
    [9, ['a\n', 'b'], 'a\nb'],
    [1, ['a\n', '\n'], '\n'],
  ])('%i of %j', (count, parts, wanted) => {
    const lines = new LastLines(count);
    parts.forEach((part, at) => {
      lines.take({ event: 'output', seq: at + 1, stream: 'stdout', chunk: bytes(part) });
    });
    expect(text(Buffer.concat(lines.events().map(({ chunk }) => chunk)))).toBe(wanted);
  });
});

describe('the decoder that Node provides', () => {
  test('gives the same bytes, in memory of their own, and refuses what is no base64', () => {
    provideBase64();
    for (const length of [0, 1, 2, 3, 6_142, 6_143, 6_144, 65_536]) {
      const given = Uint8Array.from({ length }, (_, at) => (at * 7919) % 251);
      const base64 = Buffer.from(given).toString('base64');
      const decoded = decodeBytes(base64);
      expect(decoded).toEqual(given);
      expect([decoded.byteOffset, decoded.buffer.byteLength]).toEqual([0, length]);
      if (length < 3) continue;
      expect(() => decodeBytes(`${base64.slice(0, -5)}!${base64.slice(-4)}`)).toThrow();
      expect(() => decodeBytes(base64.slice(1))).toThrow();
    }
  });
});
