import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SegmentList } from '../../src/process/segment-list.js';
import type { OutputEvent, Stream } from '../../src/protocol/index.js';

const STREAMS: readonly Stream[] = ['stdout', 'stderr', 'pty'];
/** Small ones share buffers, those from 8 KiB on do not; the seal and the jump over a seq come with an exit. */
const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1000, max: 8191 }) },
  fc.constantFrom(8192, 8193, 65_536),
);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ add: size, stream: fc.constantFrom(...STREAMS) }) },
  { weight: 4, arbitrary: fc.constant('shift' as const) },
  fc.constant('skip' as const),
);

/** Content by seq, so that a view into the wrong place shows. */
const content = (seq: number, length: number) => new Uint8Array(length).map((_, i) => (seq * 31 + i) & 0xff);
const plain = ({ seq, stream, chunk }: OutputEvent) => `${seq} ${stream} ${Buffer.from(chunk).toString('base64')}`;

describe('the segment list', () => {
  test('equals a plain array under any appends, evictions and jumps', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const list = new SegmentList(1024 * 1024);
        const model: OutputEvent[] = [];
        let seq = 1;
        for (const next of steps) {
          if (next === 'skip') {
            list.seal();
            seq++;
          } else if (next === 'shift') {
            if (model.length > 0) expect(list.shift()).toBe(model.shift()?.chunk.length);
          } else {
            list.append(seq, next.stream, content(seq, next.add));
            model.push({ event: 'output', seq, stream: next.stream, chunk: content(seq, next.add) });
            seq++;
          }
          expect([list.count, list.first_seq]).toEqual([model.length, model[0]?.seq ?? null]);
        }
        for (const after of [0, 1, Math.floor(seq / 2), seq - 2, seq - 1, seq]) {
          expect([...list.after(after)].map(plain)).toEqual(model.filter((event) => event.seq > after).map(plain));
        }
      }),
      { numRuns: 200 },
    );
  });

  test('what a reader was given never changes afterwards', () => {
    const list = new SegmentList(1024 * 1024);
    const views: Uint8Array[] = [];
    for (let seq = 1; seq <= 3000; seq++) {
      list.append(seq, 'stdout', content(seq, 1 + (seq % 50)));
      if (seq % 7 === 0) views.push(...[...list.after(seq - 1)].map(({ chunk }) => chunk));
      if (seq > 100) list.shift();
    }
    views.forEach((view, i) => {
      expect(Buffer.from(view).equals(content((i + 1) * 7, view.length))).toBe(true);
    });
    expect(views).toHaveLength(428);
  });

  test('a million single bytes cost some bytes each, not objects', () => {
    const list = new SegmentList(1024 * 1024);
    const before = usedBytes();
    for (let seq = 1; seq <= 1_000_000; seq++) list.append(seq, 'pty', Uint8Array.of(seq & 0xff));
    expect(usedBytes() - before).toBeLessThan(24 * 1024 * 1024);
    expect(list.count).toBe(1_000_000);
  });
});

/** Memory that is really in use, in bytes. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
