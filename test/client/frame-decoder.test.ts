import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameDecoder } from '../../src/client/frame-decoder.js';
import { FRAME_HEARTBEAT } from '../../src/protocol/index.js';
import type { ProcessEvent } from '../../src/protocol/output.js';
import { frameBytes } from '../../src/routes/event-frames.js';

const MAX_BYTES = 100_000;

const seq = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const bytes = fc.oneof(
  { weight: 9, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 40 }) },
  fc.integer({ min: 16_000, max: 40_000 }).map((size) => new Uint8Array(size).map((_, i) => i)),
);
const event: fc.Arbitrary<ProcessEvent> = fc.oneof(
  fc.record({ event: fc.constant('output'), seq, stream: fc.constantFrom('stdout', 'stderr', 'pty'), chunk: bytes }),
  fc.record({ event: fc.constant('exited'), seq, exit_code: fc.nat(255), signal: fc.constantFrom(null, 'SIGKILL') }),
  fc.record({ event: fc.constant('gap'), from_seq: seq, to_seq: seq, bytes: fc.option(fc.nat()), reason: fc.constant('evicted') }),
  fc.record({ event: fc.constant('closed'), seq }),
);

/** A batch as the gateway sends it. */
function sent(batch: ProcessEvent[]): Buffer {
  const form = frameBytes(batch);
  return Buffer.concat(form instanceof Uint8Array ? [form] : form.lent);
}

function decode(stream: Uint8Array, sizes: number[]): ProcessEvent[] {
  const decoder = new FrameDecoder(MAX_BYTES);
  const events: ProcessEvent[] = [];
  for (let at = 0, i = 0; at < stream.length; i++) {
    const size = sizes[i % sizes.length] as number;
    events.push(...decoder.take(stream.subarray(at, at + size)));
    at += size;
  }
  return events;
}

const plain = (events: ProcessEvent[]) =>
  events.map((event) => (event.event === 'output' ? { ...event, chunk: Buffer.from(event.chunk).toString('hex') } : event));

describe('events with their bytes as they are', () => {
  test('any events come back however the stream is cut, heartbeats between them unseen', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(event, { maxLength: 6 }), { maxLength: 5 }),
        fc.array(fc.oneof(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 10_000, max: 65_536 })), { minLength: 1 }),
        (batches, sizes) => {
          const stream = Buffer.concat(batches.flatMap((batch) => [sent(batch), Buffer.from(FRAME_HEARTBEAT)]));
          expect(plain(decode(stream, sizes))).toEqual(plain(batches.flat()));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('each event comes as soon as its last byte is there', () => {
    const stream = sent([
      { event: 'output', seq: 1, stream: 'stderr', chunk: Buffer.from('a\n\n') },
      { event: 'closed', seq: 2 },
    ]);
    const decoder = new FrameDecoder(MAX_BYTES);
    const came = Array.from(stream, (_, i) => decoder.take(stream.subarray(i, i + 1)).length);
    const first = stream.indexOf('\n') + 3;
    expect(came.flatMap((count, i) => (count > 0 ? [i] : []))).toEqual([first, stream.length - 1]);
  });

  test('large chunks are sent from where they are held, small ones together', () => {
    const chunk = new Uint8Array(20_000);
    const small = { event: 'output', seq: 1, stream: 'stdout', chunk: new Uint8Array(10) } as const;
    const form = frameBytes([small, { ...small, seq: 2, chunk }, { ...small, seq: 3 }, { event: 'closed', seq: 4 }]);
    const lent = form instanceof Uint8Array ? [] : form.lent;
    expect(lent).toHaveLength(3);
    expect(lent[1]).toBe(chunk);
  });

  test('what a newer gateway tells besides is passed over', () => {
    const stream = Buffer.from('{"event":"resized","cols":90}\n{"event":"closed","seq":1,"more":true}\n');
    expect(decode(stream, [7])).toEqual([{ event: 'closed', seq: 1, more: true }]);
  });

  const output = (bytes: string) => `{"event":"output","seq":1,"stream":"stdout"${bytes}}\n`;
  test.each([
    'no JSON\n',
    '{"event":"closed"\n',
    output(''),
    output(',"bytes":0'),
    output(',"bytes":-1'),
    output(',"bytes":1.5'),
    output(',"bytes":"2"'),
    output(`,"bytes":${MAX_BYTES + 1}`),
    ' '.repeat(9_000),
  ])('what no gateway sends is refused: %s', (text) => {
    expect(() => decode(Buffer.from(text), [5])).toThrow(expect.objectContaining({ code: 'upstream_unreachable' }));
  });
});
