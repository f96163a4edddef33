import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventLog } from '../../src/process/event-log.js';
import { FollowCursor } from '../../src/process/follow-cursor.js';
import { Pacer } from '../../src/process/pacer.js';
import type { ProcessEvent } from '../../src/protocol/index.js';

const RETAIN_BYTES = 64 * 1024;
const CHUNK_BYTES = 8 * 1024;

function scene() {
  const log = new EventLog(RETAIN_BYTES);
  const pacer = new Pacer(log, { pause() {}, resume() {} });
  let printed = 0;
  return {
    print(chunks: number) {
      for (let i = 0; i < chunks; i++) log.append('stdout', Buffer.alloc(CHUNK_BYTES, ++printed % 251));
    },
    reader: (lend: boolean) => new FollowCursor(log, pacer, {}, { lend })[Symbol.asyncIterator](),
    close: () => pacer.close(),
  };
}

const chunksOf = (batch: ProcessEvent[] | undefined) => (batch ?? []).flatMap((event) => (event.event === 'output' ? [event.chunk] : []));

/** Every chunk is filled with one byte, which its seq tells. */
function expectIntact(batch: ProcessEvent[] | undefined): void {
  for (const event of batch ?? []) {
    if (event.event === 'output') expect(event.chunk.every((byte) => byte === event.seq % 251)).toBe(true);
  }
}

test('a lent batch is good until the next is asked for, however much is printed meanwhile', async () => {
  const { print, reader, close } = scene();
  const lent = reader(true);
  print(4);
  const first = (await lent.next()).value;
  expect(chunksOf(first)).toHaveLength(4);
  print(100);
  expectIntact(first);
  const second = (await lent.next()).value;
  print(100);
  expectIntact(second);
  await lent.return?.();
  close();
});

test('what is lent is kept in the same few buffers, over and over', async () => {
  const { print, reader, close } = scene();
  const lent = reader(true);
  const buffers = new Set<ArrayBufferLike>();
  for (let round = 0; round < 500; round++) {
    print(4);
    for (const chunk of chunksOf((await lent.next()).value)) buffers.add(chunk.buffer);
  }
  expect(buffers.size).toBeLessThan(20);
  await lent.return?.();
  close();
});

const step = fc.oneof(fc.record({ print: fc.integer({ min: 1, max: 12 }) }), fc.record({ read: fc.integer({ min: 0, max: 3 }) }));

test('under any order of printing and reading, by readers that borrow and one that keeps, no byte changes while it may be used', async () => {
  const run = async (steps: (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) => {
    const { print, reader, close } = scene();
    const readers = [true, true, true, false].map(reader);
    const usable = new Map<number, ProcessEvent[][]>([[3, []]]);
    for (const next of steps) {
      // A reader has something to read, so that it never waits.
      print('print' in next ? next.print : 1);
      if ('read' in next) {
        const batch = (await readers[next.read]?.next())?.value ?? [];
        usable.set(next.read, next.read === 3 ? [...(usable.get(3) ?? []), batch] : [batch]);
      }
      for (const batch of [...usable.values()].flat()) expectIntact(batch);
    }
    for (const each of readers) await each.return?.();
    close();
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60 }), run), { numRuns: 150 });
});
