import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Chunker } from '../../src/process/chunker.js';

const text = fc.string({ unit: 'binary', maxLength: 60 }).map((value) => Buffer.from(value.toWellFormed()));
const anything = fc.uint8Array({ maxLength: 120 }).map((bytes) => Buffer.from(bytes));
const nearlyText = fc
  .array(fc.constantFrom(0x41, 0x80, 0x90, 0xa0, 0xbf, 0xc2, 0xe0, 0xe2, 0xed, 0xf0, 0xf4, 0xff), { maxLength: 60 })
  .map((list) => Buffer.from(list));
const cuts = fc.array(fc.nat({ max: 120 }), { maxLength: 20 });
const max_bytes = fc.integer({ min: 4, max: 40 });

function pieces(bytes: Buffer, places: number[]): Buffer[] {
  const marks = [0, ...places.map((place) => Math.min(place, bytes.length)).sort((a, b) => a - b), bytes.length];
  return marks.slice(1).map((end, i) => bytes.subarray(marks[i], end));
}

function chunked(bytes: Buffer, places: number[], limit: number): Buffer[] {
  const chunks: Buffer[] = [];
  const chunker = new Chunker(limit, (chunk) => chunks.push(Buffer.from(chunk)));
  for (const piece of pieces(bytes, places)) chunker.push(Uint8Array.from(piece));
  chunker.flush();
  return chunks;
}

describe('the chunker', () => {
  test('changes no byte, whatever the bytes and however they arrive', () => {
    fc.assert(
      fc.property(fc.oneof(text, anything), cuts, max_bytes, (bytes, places, limit) => {
        const chunks = chunked(bytes, places, limit);
        expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
        for (const chunk of chunks) {
          expect(chunk.length).toBeGreaterThan(0);
          expect(chunk.length).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  test('never ends a chunk of text inside a character', () => {
    fc.assert(
      fc.property(text, cuts, max_bytes, (bytes, places, limit) => {
        for (const chunk of chunked(bytes, places, limit)) {
          expect(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(chunk)).toBe(chunk.toString());
        }
      }),
    );
  });

  test('cuts any bytes so that chunks decode to text one by one as they do together', () => {
    fc.assert(
      fc.property(nearlyText, cuts, max_bytes, (bytes, places, limit) => {
        const decode = (part: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(part);
        expect(chunked(bytes, places, limit).map(decode).join('')).toBe(decode(bytes));
      }),
      { numRuns: 2000 },
    );
  });

  test('keeps nothing back that is finished, and cuts nothing that fits', () => {
    const chunks: string[] = [];
    const chunker = new Chunker(65_536, (chunk) => chunks.push(Buffer.from(chunk).toString('latin1')));
    chunker.push(Buffer.from('abc\xff', 'latin1'));
    chunker.push(Buffer.from('\xc0\x80', 'latin1'));
    expect(chunks).toEqual(['abc\xff', '\xc0\x80']);
  });

  test('cuts a large write into chunks of the limit, but for a character on the edge', () => {
    const bytes = Buffer.from('€'.repeat(100_000));
    const sizes = chunked(bytes, [], 65_536).map((chunk) => chunk.length);
    expect(sizes).toEqual([65_535, 65_535, 65_535, 65_535, 300_000 - 4 * 65_535]);
  });

  test('tells an unfinished character after 50 ms as it is, and takes up again behind it', async () => {
    const times: number[] = [];
    const chunks: Buffer[] = [];
    let told = () => {};
    const released = new Promise<void>((resolve) => {
      told = resolve;
    });
    const chunker = new Chunker(100, (chunk) => {
      chunks.push(Buffer.from(chunk));
      times.push(performance.now());
      if (chunks.length === 2) told();
    });
    chunker.push(Uint8Array.of(0x41, 0xe2, 0x94));
    expect(chunks).toEqual([Buffer.from('A')]);
    await released;
    expect(chunks[1]).toEqual(Buffer.of(0xe2, 0x94));
    expect((times[1] as number) - (times[0] as number)).toBeGreaterThan(45);
    chunker.push(Uint8Array.of(0x80, 0x42));
    expect(chunks[2]).toEqual(Buffer.of(0x80, 0x42));
  });

  test('joins a character that arrives in four parts', () => {
    expect(chunked(Buffer.from('a😀b'), [2, 3, 4], 100).map(String)).toEqual(['a', '😀b']);
  });

  test('does not keep what it was lent: a reused buffer does no harm to what is held back', () => {
    const chunks: string[] = [];
    const chunker = new Chunker(100, (chunk) => chunks.push(Buffer.from(chunk).toString()));
    const lent = Buffer.from('é');
    chunker.push(lent.subarray(0, 1));
    lent.fill(0);
    chunker.push(Buffer.from('é').subarray(1));
    expect(chunks).toEqual(['é']);
  });

  test('finishes a character with what had come in time, though the program was too busy to read it', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [writer] = (await once(server, 'connection')) as [Socket];
    const chunks: string[] = [];
    const chunker = new Chunker(1024, (chunk) => chunks.push(Buffer.from(chunk).toString('latin1')));
    reader.on('data', (bytes) => {
      chunker.push(bytes);
      if (bytes.length !== 2) return;
      writer.end(Buffer.from([0x80]));
      for (const until = performance.now() + 100; performance.now() < until; );
    });
    writer.write(Buffer.from([0xe2, 0x94]));
    await once(reader, 'close');
    server.close();
    expect(chunks).toEqual(['\xe2\x94\x80']);
  });
});
