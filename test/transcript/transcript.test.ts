import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { seqOf } from '../../src/protocol/event-seq.js';
import type { ProcessEvent, Stream } from '../../src/protocol/index.js';
import { RecordedLog } from './recorded-log.js';

const KIB = 1024;
const MIB = 1024 * KIB;

let recorded: RecordedLog | null = null;

function record(...args: ConstructorParameters<typeof RecordedLog>): RecordedLog {
  recorded = new RecordedLog(...args);
  return recorded;
}

afterEach(async () => {
  await recorded?.close();
  recorded = null;
});

/** `count` chunks of `size` bytes, each its own. */
function* blocks(count: number, size: number, from = 0): Generator<[Stream, Uint8Array]> {
  for (let i = from; i < from + count; i++) yield ['stdout', Buffer.alloc(size, `${i},`)];
}

/** The numbers of all events in the order in which they were told, gaps as a whole. */
function expectEverySeq(events: ProcessEvent[], next_seq: number): void {
  let expected = 1;
  for (const event of events) {
    expect(event.event === 'gap' ? event.from_seq : event.seq).toBe(expected);
    expected = seqOf(event) + 1;
  }
  expect(expected).toBe(next_seq);
}

const sum = (numbers: (number | null)[]) => numbers.reduce((total: number, number) => total + (number as number), 0);

test('a little is written together after a while; much, the end, and what is to be flushed, at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const it = record(MIB);
    const append = vi.spyOn(it.writer.transcript, 'append');
    const turn = () => new Promise(setImmediate);
    const appended = async (times: number) => {
      while (append.mock.calls.length < times || it.writer.transcript.next_seq < it.log.next_seq) await turn();
      expect(append).toHaveBeenCalledTimes(times);
    };
    for (const block of blocks(50, 10)) {
      await it.print([block]);
      await turn();
    }
    expect(append).not.toHaveBeenCalled();
    vi.runAllTimers();
    await appended(1);
    await it.print(blocks(1, 10));
    await it.writer.flush();
    await appended(2);
    await it.print(blocks(1, 64 * KIB));
    await appended(3);
    await it.print(blocks(1, 10));
    await turn();
    it.end();
    await appended(4);
    expect(vi.getTimerCount()).toBe(0);
    expect((await it.follow()).bytes.length).toBe(52 * 10 + 64 * KIB);
  } finally {
    vi.useRealTimers();
  }
});

describe('what memory gave up', () => {
  test('is read from disk as it was, by followers and by reads, however it was cut', async () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 300 });
    const stream = fc.constantFrom<Stream>('stdout', 'stderr', 'pty');
    const pieces = fc.array(fc.tuple(stream, chunk), { minLength: 1, maxLength: 200 });
    const life = fc.record({ pieces, after_exit: pieces, retain_bytes: fc.integer({ min: 1, max: 4000 }), max_bytes: fc.nat(2000) });
    await fc.assert(
      fc.asyncProperty(life, async ({ pieces, after_exit, retain_bytes, max_bytes }) => {
        const it = record(retain_bytes);
        const live = it.follow();
        await it.print(pieces);
        it.log.appendExited({ exit_code: 7, signal: null });
        await it.print(after_exit);
        it.log.appendClosed();
        await live;
        const all = [...pieces, ...after_exit];
        const bytes = Buffer.concat(all.map(([, chunk]) => chunk));
        for (const told of [await it.follow(), await it.follow({ after_seq: Math.floor(all.length / 2) }), await it.read(max_bytes)]) {
          expect(told.gaps).toEqual([]);
          expect(told.bytes.equals(bytes.subarray(bytes.length - told.bytes.length))).toBe(true);
        }
        const { events } = await it.follow();
        expectEverySeq(events, it.log.next_seq);
        expect(events.flatMap((event) => (event.event === 'output' ? [event.stream] : []))).toEqual(all.map(([stream]) => stream));
        expect(events[pieces.length]).toEqual({ event: 'exited', seq: pieces.length + 1, exit_code: 7, signal: null });
        const errors = Buffer.concat(all.flatMap(([stream, chunk]) => (stream === 'stderr' ? [chunk] : [])));
        expect((await it.read(max_bytes, 'stderr')).bytes.equals(errors)).toBe(true);
        expect(it.log.readable_bytes).toBe(bytes.length);
        expect(it.log.first_seq).toBe(1);
        await it.close();
      }),
      { numRuns: 25 },
    );
  });

  test('makes room for the newest within the limit of its process, and the gap says exactly what is gone', async () => {
    const it = record(64 * KIB, { transcript_bytes: 2 * MIB });
    let most = 0;
    for (let i = 0; i < 40; i++) {
      await it.print(blocks(5, 40_000, i * 5));
      most = Math.max(most, it.store.bytes);
    }
    it.end();
    await it.flush();
    const { gaps, bytes, events } = await it.follow();
    expect(most).toBeLessThanOrEqual(2 * MIB);
    expect(most).toBeGreaterThan(1.5 * MIB);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]).toMatchObject({ from_seq: 1, reason: 'evicted', bytes: 200 * 40_000 - bytes.length });
    expect(bytes.length).toBe(it.log.readable_bytes);
    expect(it.log.first_seq).toBe((gaps[0]?.to_seq as number) + 1);
    expectEverySeq(events, it.log.next_seq);
    expect((await it.read()).gaps).toEqual(
      gaps.map(({ from_seq, to_seq, bytes, reason }) => ({ event: 'gap', from_seq, to_seq, bytes, reason })),
    );
    const sizes = readdirSync(it.dir).map((name) => statSync(join(it.dir, name)).size);
    expect(sum(sizes)).toBe(it.store.bytes);
  });

  test('makes room for the newest of all processes within the limit of all, the oldest first', async () => {
    const it = record(64 * KIB, { transcript_bytes: 1 * MIB, transcript_total_bytes: 1 * MIB });
    await it.print(blocks(20, 40_000));
    it.end();
    await it.follow();
    expect(it.log.first_seq).toBe(1);
    const other = it.store.writer('other');
    for (let i = 0; i < 12; i++) {
      const bytes = Buffer.alloc(60_000);
      await other.transcript.append([{ parts: [bytes], seq: i + 1, next_seq: i + 2, output_bytes: bytes.length }], i * bytes.length);
    }
    expect(it.store.bytes).toBeLessThanOrEqual(MIB);
    const { gaps, bytes } = await it.follow();
    expect(gaps).toHaveLength(1);
    expect(sum(gaps.map(({ bytes }) => bytes)) + bytes.length).toBe(800_000);
    expect(other.transcript.next(1)).toBe(1);
  });

  test('is gone with its process, and its room is free', async () => {
    const it = record(64 * KIB);
    await it.print(blocks(20, 40_000));
    expect(it.store.bytes).toBeGreaterThan(0);
    await it.store.remove('p');
    expect(it.store.bytes).toBe(0);
    expect(readdirSync(join(it.data_dir, 'transcripts'))).toEqual([]);
    await it.print(blocks(20, 40_000));
    expect(it.log.retained_bytes).toBeLessThanOrEqual(64 * KIB);
  });
});

describe('a disk that fails', () => {
  /** Nobody, root included, makes a directory where a file is. */
  function block(it: RecordedLog): void {
    mkdirSync(dirname(it.dir), { recursive: true });
    writeFileSync(it.dir, '');
  }

  test('does not hold the process up: what memory gives up is a gap, and what comes when it works again is kept', async () => {
    const it = record(64 * KIB);
    block(it);
    await it.print(blocks(50, 40_000));
    expect(it.store.failures).toBeGreaterThan(0);
    expect(it.troubles).toHaveLength(1);
    expect(it.log.retained_bytes).toBeLessThanOrEqual(64 * KIB);
    rmSync(it.dir);
    await it.untilWrittenAgain();
    await it.print(blocks(50, 40_000, 50));
    it.end();
    const { gaps, bytes, events } = await it.follow();
    expect(gaps).toHaveLength(1);
    expect(gaps[0]).toMatchObject({ from_seq: 1, reason: 'evicted', bytes: 100 * 40_000 - bytes.length });
    expect(bytes.length).toBeGreaterThanOrEqual(50 * 40_000);
    expectEverySeq(events, it.log.next_seq);
    expect(it.log.readable_bytes).toBe(bytes.length);
    expect(it.troubles).toEqual([expect.stringContaining('cannot be written'), expect.stringContaining('again')]);
  });

  test('that opens files but takes nothing leaves none of them, however often it is tried', async () => {
    const { transcript } = record(64 * KIB).store.writer('full');
    const dir = join(dirname((recorded as RecordedLog).dir), 'full');
    const write = () => transcript.append([{ parts: [Buffer.alloc(1000)], seq: 1, next_seq: 2, output_bytes: 1000 }], 0);
    mkdirSync(dir, { recursive: true });
    for (let i = 0; i < 3; i++) {
      symlinkSync('/dev/full', join(dir, '1-0'));
      await expect(write()).rejects.toThrow('ENOSPC');
      expect([transcript.parts(), readdirSync(dir), (recorded as RecordedLog).store.bytes]).toEqual([[], [], 0]);
    }
    await write();
    expect(transcript.parts()).toHaveLength(1);
  });

  test('that fails for a while leaves a gap in the middle, of exactly what is missing', async () => {
    const it = record(64 * KIB, { transcript_bytes: 16 * MIB });
    await it.print(blocks(60, 40_000));
    await it.flush();
    const away = `${it.dir}-away`;
    renameSync(it.dir, away);
    block(it);
    await it.print(blocks(60, 40_000, 60));
    expect(it.troubles).toHaveLength(1);
    rmSync(it.dir);
    renameSync(away, it.dir);
    await it.untilWrittenAgain();
    await it.print(blocks(60, 40_000, 120));
    it.end();
    const { gaps, bytes, events } = await it.follow();
    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.from_seq).toBeGreaterThan(60);
    expect(gaps[0]?.to_seq).toBeLessThan(120);
    expect(bytes.length + (gaps[0]?.bytes as number)).toBe(180 * 40_000);
    expectEverySeq(events, it.log.next_seq);
    expect(sum((await it.read()).gaps.map((gap) => gap.bytes))).toBe(gaps[0]?.bytes);
  });
});

describe('damage', () => {
  async function written(): Promise<{ it: RecordedLog; files: string[] }> {
    const it = record(4 * KIB, { transcript_bytes: MIB });
    await it.print(blocks(200, 4_000));
    it.end();
    expect((await it.follow()).gaps).toEqual([]);
    const files = readdirSync(it.dir).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
    expect(files.length).toBeGreaterThan(3);
    return { it, files: files.map((name) => join(it.dir, name)) };
  }

  test.each([
    ['a byte that changed', (file: string) => writeFileSync(file, readFileSync(file).fill(0xff, 70_000, 70_001))],
    ['a file that is cut off', (file: string) => truncateSync(file, 70_000)],
    ['a file that is gone', (file: string) => rmSync(file)],
    ['a file of zeros', (file: string) => writeFileSync(file, Buffer.alloc(statSync(file).size))],
    ['a file of noise', (file: string) => writeFileSync(file, Buffer.alloc(statSync(file).size, 'noise'))],
    [
      'a directory where a file was',
      (file: string) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
  ])('%s is told as a gap, and the rest is whole', async (_name, harm) => {
    const { it, files } = await written();
    harm(files[1] as string);
    for (const { gaps, bytes, events } of [await it.follow(), await it.read(100_000)]) {
      expect(gaps).toHaveLength(1);
      expect(bytes.length + sum(gaps.map(({ bytes }) => bytes))).toBe(800_000);
      expect(bytes.length).toBeGreaterThan(600_000);
      if (events.at(-1)?.event === 'closed') expectEverySeq(events, it.log.next_seq);
    }
  });
});
