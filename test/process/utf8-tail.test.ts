import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utf8Tail } from '../../src/process/utf8-tail.js';

/** Bytes at the edges of what RFC 3629 allows, and text. */
const edge = fc.constantFrom(
  ...[0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee],
);
const high = fc.constantFrom(0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff);
const mixed = fc.array(fc.oneof(edge, high, fc.nat({ max: 255 })), { maxLength: 8 }).map((list) => Uint8Array.from(list));
const text = fc.string({ unit: 'binary', maxLength: 12 }).map((value) => Buffer.from(value.toWellFormed()));

/** What the standard's streaming decoder keeps back at the end: the shortest tail whose absence changes no text told so far. */
function modelTail(bytes: Uint8Array): number {
  const decoder = new TextDecoder();
  const told = decoder.decode(bytes, { stream: true });
  if (decoder.decode() === '') return 0;
  for (let tail = 1; tail <= 3; tail++) {
    if (new TextDecoder().decode(bytes.subarray(0, bytes.length - tail)) === told) return tail;
  }
  throw new Error('the decoder keeps back more than 3 bytes');
}

describe('the unfinished character at the end of bytes', () => {
  test('is what a streaming decoder keeps back, for any bytes', () => {
    fc.assert(
      fc.property(mixed, (bytes) => {
        expect(utf8Tail(bytes)).toBe(modelTail(bytes));
      }),
      { numRuns: 20_000 },
    );
  });

  test('is the same for every pair of bytes', () => {
    for (let first = 0x7f; first < 256; first++) {
      for (let second = 0x7f; second < 256; second++) {
        const bytes = Uint8Array.of(first, second);
        if (utf8Tail(bytes) !== modelTail(bytes)) expect([first, second, utf8Tail(bytes)]).toEqual([first, second, modelTail(bytes)]);
      }
    }
    expect(utf8Tail(Uint8Array.of(0xe2, 0x94))).toBe(2);
  });

  test('is cut off well: what is left is whole text, wherever text is cut', () => {
    fc.assert(
      fc.property(text, fc.nat(), (bytes, place) => {
        const head = bytes.subarray(0, place % (bytes.length + 1));
        const whole = head.subarray(0, head.length - utf8Tail(head));
        expect(new TextDecoder('utf-8', { fatal: true }).decode(whole)).toBe(whole.toString());
        expect(head.length - whole.length).toBeLessThan(4);
      }),
    );
  });
});
