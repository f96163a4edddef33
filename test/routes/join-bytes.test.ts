import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinBytes } from '../../src/routes/join-bytes.js';

/** Pieces of two buffers, so that some lie together and some only seem to. */
const piece = fc.record({
  of: fc.integer({ min: 0, max: 1 }),
  from: fc.integer({ min: 0, max: 30 }),
  length: fc.integer({ min: 0, max: 10 }),
});

test('joined chunks are the chunks one after the other, wherever they lie', () => {
  const buffers = [0, 100].map((base) => new Uint8Array(64).map((_, i) => base + i));
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const chunks = pieces.map(({ of, from, length }) => (buffers[of] as Uint8Array).subarray(from, from + length));
      expect([...joinBytes(chunks)]).toEqual(chunks.flatMap((chunk) => [...chunk]));
    }),
  );
});

test('chunks that lie together are not copied', () => {
  const buffer = new Uint8Array(12).map((_, i) => i);
  const joined = joinBytes([buffer.subarray(2, 5), buffer.subarray(5, 6), buffer.subarray(6, 9)]);
  expect(joined).toEqual(buffer.subarray(2, 9));
  expect(joined.buffer).toBe(buffer.buffer);
});
