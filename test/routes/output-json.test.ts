import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OutputEvent } from '../../src/protocol/index.js';
import { bytesText, rawParts, readResultJson, withBytesJson } from '../../src/routes/output-json.js';

const rest = { next_seq: 9, exited: false, exit_code: null, signal: null, closed: false, gap: null };
const encodings = fc.constantFrom('utf8' as const, 'base64' as const);
const sizes = fc.array(fc.constantFrom(0, 1, 3, 70_000, 196_608, 200_001), { maxLength: 6 });

/** Bytes that are UTF-8 in places: characters of one to four bytes, controls, quotes and what is none. */
function bytesOf(size: number, seed: number): Uint8Array {
  const some = Buffer.concat([Buffer.from('a"\\\n\u0001é漢😀'), Buffer.from([0xff, 0xe2, 0x82])]);
  return Uint8Array.from({ length: size }, (_, i) => some[(i + seed) % some.length] ?? 0);
}

function chunksOf(lengths: number[]): OutputEvent[] {
  return lengths.map((length, at) => ({ event: 'output', seq: at + 1, stream: 'stdout', chunk: bytesOf(length, at) }) as OutputEvent);
}

test('a large answer is made in parts that are together what it is', () => {
  fc.assert(
    fc.property(sizes, encodings, (lengths, encoding) => {
      const chunks = chunksOf(lengths);
      const told = JSON.parse(Buffer.concat([...readResultJson({ chunks, ...rest }, encoding)]).toString());
      const expected = chunks.map(({ seq, stream, chunk }) => ({ seq, stream, chunk: bytesText(chunk, encoding) }));
      expect(told).toEqual({ chunks: expected, ...rest });
      const raw = Buffer.concat([...rawParts({ chunks, ...rest })]);
      expect(raw.equals(Buffer.concat(chunks.map(({ chunk }) => chunk)))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('so is one with texts made of bytes, and no character is cut', () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 5, 196_607, 400_001), fc.nat(20), encodings, (size, seed, encoding) => {
      const [stdout, stderr] = [bytesOf(size, seed), bytesOf(7, seed)];
      const told = JSON.parse(Buffer.concat([...withBytesJson({ a: 1 }, { stdout, stderr }, encoding)]).toString());
      expect(told).toEqual({ a: 1, stdout: bytesText(stdout, encoding), stderr: bytesText(stderr, encoding) });
    }),
    { numRuns: 50 },
  );
});

test('no part is large, so that none takes long', () => {
  const parts = [...readResultJson({ chunks: chunksOf(Array.from({ length: 40 }, () => 65_536)), ...rest }, 'base64')];
  expect(parts.length).toBeGreaterThan(10);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(512 * 1024);
});
