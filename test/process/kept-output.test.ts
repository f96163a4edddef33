import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Archive, EventLog } from '../../src/process/event-log.js';
import { FollowCursor } from '../../src/process/follow-cursor.js';
import { keptBytes } from '../../src/process/kept-bytes.js';
import { keptOutput } from '../../src/process/kept-output.js';
import { Pacer } from '../../src/process/pacer.js';
import type { OutputEvent, ProcessEvent } from '../../src/protocol/index.js';

const STREAMS = ['stdout', 'stderr'] as const;

/** An archive of these events, without a file. */
class Remembered implements Archive {
  readonly events: OutputEvent[] = [];

  parts() {
    const parts: { first_seq: number; next_seq: number }[] = [];
    for (const { seq } of this.events) {
      const last = parts.at(-1);
      if (last?.next_seq === seq && seq % 5 !== 0) last.next_seq++;
      else parts.push({ first_seq: seq, next_seq: seq + 1 });
    }
    const bytes = async (first_seq: number, next_seq: number, stream?: string) =>
      this.events
        .filter((event) => event.seq >= first_seq && event.seq < next_seq && (stream === undefined || event.stream === stream))
        .reduce((sum, { chunk }) => sum + chunk.length, 0);
    return parts.map((part) => ({
      ...part,
      bytes: (next_seq: number, stream?: string) => bytes(part.first_seq, Math.min(next_seq, part.next_seq), stream),
    }));
  }

  next(seq: number) {
    return this.events.find((event) => event.seq >= seq)?.seq ?? null;
  }

  bytesBefore() {
    return null;
  }

  get output_bytes() {
    return this.events.reduce((sum, { chunk }) => sum + chunk.length, 0);
  }

  get next_seq() {
    return (this.events.at(-1)?.seq ?? 0) + 1;
  }

  async read(after_seq: number, max_bytes: number) {
    const found: ProcessEvent[] = [];
    for (const event of this.events) {
      if (event.seq <= after_seq) continue;
      if (event.seq !== after_seq + found.length + 1 || (found.length > 0 && event.chunk.length > max_bytes)) break;
      found.push(event);
    }
    return found;
  }
}

const NOBODY = { pause() {}, resume() {} };

const printed = fc.array(fc.record({ stream: fc.nat(1), size: fc.integer({ min: 1, max: 400 }), archived: fc.boolean() }), {
  minLength: 1,
  maxLength: 60,
});

test('whatever is missing in it, and wherever the rest is, a part of it is that part of what is left', async () => {
  await fc.assert(
    fc.asyncProperty(
      printed,
      fc.constantFrom(undefined, ...STREAMS),
      fc.nat(),
      fc.nat(),
      fc.nat(),
      async (chunks, stream, cut, from, size) => {
        const archive = new Remembered();
        const log = new EventLog(2_000, archive);
        for (const { stream, size, archived } of chunks) {
          const chunk = Buffer.alloc(size, log.next_seq);
          const event: OutputEvent = { event: 'output', seq: log.next_seq, stream: STREAMS[stream] as 'stdout', chunk };
          log.append(event.stream, chunk);
          if (archived) archive.events.push(event);
        }
        // A gap is one only where memory has let go of it.
        while (archive.next_seq >= log.memory_seq && archive.events.length > 0) archive.events.pop();
        const before_seq = 1 + (cut % log.next_seq);
        const kept = await keptOutput(log, before_seq, stream);
        const isKept = (seq: number) => seq >= log.memory_seq || archive.events.some((event) => event.seq === seq);
        const left = chunks.flatMap((chunk, i) =>
          isKept(i + 1) && i + 1 < before_seq && (stream === undefined || STREAMS[chunk.stream] === stream)
            ? [Buffer.alloc(chunk.size, i + 1)]
            : [],
        );
        const whole = Buffer.concat(left);
        expect(kept.size_bytes).toBe(whole.length);
        for (let seq = 1; seq < before_seq; seq++) {
          expect(kept.gaps.some(({ from_seq, to_seq }) => from_seq <= seq && seq <= to_seq)).toBe(!isKept(seq));
        }
        const offset = whole.length === 0 ? 0 : from % whole.length;
        const length = Math.min(whole.length - offset, size);
        const read: Buffer[] = [];
        const readOn = (after_seq: number) => new FollowCursor(log, new Pacer(log, NOBODY), { after_seq }, { lend: true });
        for await (const block of keptBytes(kept, { offset, length }, readOn)) read.push(Buffer.from(block));
        expect(Buffer.concat(read).equals(whole.subarray(offset, offset + length))).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

test('what is given up before it was read ends it with an error', async () => {
  const log = new EventLog(1_000);
  const print = (count: number) => {
    for (let i = 0; i < count; i++) log.append('stdout', Buffer.alloc(100, i));
  };
  print(10);
  const kept = await keptOutput(log, log.next_seq);
  expect(kept).toMatchObject({ size_bytes: 1_000, gaps: [] });
  print(5);
  const readOn = (after_seq: number) => new FollowCursor(log, new Pacer(log, NOBODY), { after_seq }, { lend: true });
  const read = async () => {
    for await (const _ of keptBytes(kept, { offset: 0, length: 1_000 }, readOn));
  };
  await expect(read()).rejects.toMatchObject({ code: 'output_evicted' });
  // The part that is still there is given.
  const parts: number[] = [];
  for await (const block of keptBytes(kept, { offset: 0, length: 0 }, readOn)) parts.push(block.length);
  expect(parts).toEqual([]);
});
