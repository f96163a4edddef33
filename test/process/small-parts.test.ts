import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteHistory } from '../../src/process/byte-history.js';
import { labelMatch } from '../../src/process/labels.js';
import { RunCapture } from '../../src/process/run-capture.js';
import { uuidV7 } from '../../src/process/uuid-v7.js';
import type { Stream } from '../../src/protocol/index.js';

describe('labels', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '-', 'é'), minLength: 1, maxLength: 3 });
  const value = fc.string({ unit: fc.constantFrom('a', '=', ' '), maxLength: 3 });

  test('match when every wanted pair is there', () => {
    fc.assert(
      fc.property(fc.dictionary(key, value), fc.array(fc.tuple(key, value), { maxLength: 3 }), (labels, wanted) => {
        const expected = wanted.every(([name, text]) => Object.hasOwn(labels, name) && labels[name] === text);
        expect(labelMatch(wanted.map(([name, text]) => `${name}=${text}`))(labels)).toBe(expected);
      }),
    );
  });

  test('that no process can have match none', () => {
    expect(labelMatch(['constructor=x', '__proto__=x'])({})).toBe(false);
    expect(labelMatch(['a='])(undefined)).toBe(false);
    expect(labelMatch(['a='])({ a: '' })).toBe(true);
  });

  test.each(['', 'key', '=value'])('%j is no pair', (pair) => {
    expect(() => labelMatch([pair])).toThrow(expect.objectContaining({ code: 'invalid_request', fields: { field: 'label' } }));
  });
});

describe('the capture of a run', () => {
  test('is the head of each stream, and says when there was more', () => {
    const printed = fc.array(fc.tuple(fc.constantFrom<Stream>('stdout', 'stderr'), fc.uint8Array({ maxLength: 9 })), { maxLength: 12 });
    fc.assert(
      fc.property(printed, fc.nat({ max: 20 }), (chunks, max_bytes) => {
        const capture = new RunCapture(max_bytes);
        for (const [stream, chunk] of chunks) capture.take(stream, chunk);
        let truncated = false;
        for (const stream of ['stdout', 'stderr'] as const) {
          const whole = Buffer.concat(chunks.filter(([from]) => from === stream).map(([, chunk]) => chunk));
          expect(Buffer.from(capture.bytes(stream)).equals(whole.subarray(0, max_bytes))).toBe(true);
          truncated ||= whole.length > max_bytes;
        }
        expect(capture.truncated).toBe(truncated);
      }),
    );
  });

  test('takes a terminal for stdout', () => {
    const capture = new RunCapture(10);
    capture.take('pty', Buffer.from('text'));
    expect([Buffer.from(capture.bytes('stdout')).toString(), capture.bytes('stderr').length]).toEqual(['text', 0]);
  });
});

describe('a made-up process id', () => {
  test('is a UUID of version 7 and its time, and none comes twice', () => {
    const before = Date.now();
    const ids = Array.from({ length: 5000 }, () => uuidV7());
    const after = Date.now();
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
      expect(time).toBeGreaterThanOrEqual(before);
      expect(time).toBeLessThanOrEqual(after);
    }
  });
});

describe('the history of bytes', () => {
  test('knows what came before each of the last 65,536 events, through holes, and forgets the rest', () => {
    const history = new ByteHistory();
    expect([history.before(0), history.before(1)]).toEqual([0, 0]);
    const events = 300_000;
    for (let seq = 1; seq <= events; seq++) if (seq % 1000 !== 0) history.push(seq, seq * 3);
    for (let back = 0; back < 65_000; back += 777) {
      const seq = events - 1 - back;
      expect(history.before(seq)).toBe((seq % 1000 === 0 ? seq + 1 : seq) * 3);
    }
    expect([history.before(1), history.before(events - 140_000)]).toEqual([0, null]);
  });
});
