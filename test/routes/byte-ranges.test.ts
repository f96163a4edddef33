import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ByteRange, byteRanges } from '../../src/routes/byte-ranges.js';

const told = (header: string, size: number) =>
  byteRanges(header, size)
    ?.map(({ first, last }) => `${first}-${last}`)
    .join(' ') ?? null;

describe('byteRanges', () => {
  test.each<[string, number, string | null]>([
    ['bytes=0-0', 10, '0-0'],
    ['bytes=2-5', 10, '2-5'],
    ['bytes=2-', 10, '2-9'],
    ['bytes=-3', 10, '7-9'],
    ['bytes=-30', 10, '0-9'],
    ['bytes=5-99999999999999999999999', 10, '5-9'],
    ['Bytes=0-1', 10, '0-1'],
    ['bytes= 0-1 , 4-5 ', 10, '0-1 4-5'],
    ['bytes=,0-1,,4-5,', 10, '0-1 4-5'],
    ['bytes=4-5,0-1', 10, '4-5 0-1'],
    ['bytes=0-3,2-5', 10, '0-5'],
    ['bytes=0-1,2-3', 10, '0-3'],
    ['bytes=0-1,8-9,2-7', 10, '0-9'],
    ['bytes=0-1,10-20', 10, '0-1'],
    ['bytes=10-', 10, ''],
    ['bytes=-0', 10, ''],
    ['bytes=99-100,200-', 10, ''],
    ['bytes=5-4', 10, null],
    ['bytes=0-1,5-4', 10, null],
    ['bytes=', 10, null],
    ['bytes=-', 10, null],
    ['bytes=1', 10, null],
    ['bytes=a-b', 10, null],
    ['bytes=+1-2', 10, null],
    ['bytes=1-2x', 10, null],
    ['bytes=1 -2', 10, null],
    ['lines=0-1', 10, null],
    ['bytes 0-1', 10, null],
  ])('%s of %i', (header, size, parts) => {
    expect(told(header, size)).toBe(parts);
  });

  test('64 parts are given, more are not', () => {
    const parts = (count: number) => Array.from({ length: count }, (_, i) => `${i * 10}-${i * 10}`).join();
    expect(byteRanges(`bytes=${parts(64)}`, 10_000)).toHaveLength(64);
    expect(byteRanges(`bytes=${parts(65)}`, 10_000)).toBeNull();
  });

  test('the parts hold each byte that was asked for once, and no other', () => {
    const spec = fc.tuple(fc.nat(40), fc.nat(40)).map(([first, more]) => ({ first, last: first + more }));
    fc.assert(
      fc.property(fc.array(spec, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 60 }), (specs, size) => {
        const parts = byteRanges(`bytes=${specs.map(({ first, last }) => `${first}-${last}`).join()}`, size) as ByteRange[];
        const bytes = (ranges: ByteRange[]) =>
          ranges.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
        const wanted = new Set(bytes(specs).filter((byte) => byte < size));
        expect(bytes(parts).sort((a, b) => a - b)).toEqual([...wanted].sort((a, b) => a - b));
      }),
    );
  });
});
