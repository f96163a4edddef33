import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Child } from '../../src/process/child.js';
import { StdinQueue } from '../../src/process/stdin-queue.js';
import { STDIN_QUEUE_BYTES } from '../../src/protocol/index.js';

/** When a child tells that it has taken its input: at once, in a later turn, or when the test says so. */
type Mode = 'at once' | 'later' | 'when told';

/** The input side of a child. */
class Taker {
  readonly taken: Buffer[] = [];
  eofs = 0;
  readonly #mode: Mode;
  readonly #waiting: (() => void)[] = [];
  failing: Error | null = null;

  constructor(mode: Mode) {
    this.#mode = mode;
  }

  get child(): Child {
    const write: Child['write'] = (bytes, done) => {
      if (this.failing === null) this.taken.push(Buffer.from(bytes));
      const tell = () => done(this.failing);
      if (this.#mode === 'at once') tell();
      else if (this.#mode === 'later') setImmediate(tell);
      else this.#waiting.push(tell);
    };
    const endInput = () => void this.eofs++;
    return { pid: 1, write, endInput, pause() {}, resume() {}, resize() {}, destroy() {} };
  }

  get bytes(): Buffer {
    return Buffer.concat(this.taken);
  }

  /** Takes the next `count` pieces. */
  take(count = Number.POSITIVE_INFINITY): void {
    for (const tell of this.#waiting.splice(0, count)) tell();
  }
}

const mode = fc.constantFrom<Mode>('at once', 'later');
const size = fc.oneof(fc.nat({ max: 20 }), fc.constantFrom(65_535, 65_536, 65_537, 400_000));
const numbered = (length: number, salt: number) => Buffer.alloc(length, `${salt},`);

describe('the stdin queue', () => {
  test('hands over concurrent writes whole and in the order of arrival', async () => {
    await fc.assert(
      fc.asyncProperty(mode, fc.array(size, { maxLength: 12 }), async (when, sizes) => {
        const taker = new Taker(when);
        const queue = new StdinQueue(taker.child, true);
        const writes = sizes.map((length, i) => numbered(length, i));
        const counts = await Promise.all(writes.map((bytes) => queue.write(bytes, { wait_ms: 10_000 })));
        expect(taker.bytes.equals(Buffer.concat(writes))).toBe(true);
        const sums = sizes.map((_, i) => sizes.slice(0, i + 1).reduce((sum, length) => sum + length, 0));
        counts.forEach((count, i) => {
          expect(count).toBeGreaterThanOrEqual(sums[i] as number);
        });
        expect(queue.accepted_bytes).toBe(sums.at(-1) ?? 0);
      }),
      { numRuns: 60 },
    );
  });

  test('an exact write that others overtook while it waited took nothing, and says so rather than that there was no room', async () => {
    const taker = new Taker('when told');
    const queue = new StdinQueue(taker.child, true);
    const filling = queue.write(Buffer.alloc(2 * STDIN_QUEUE_BYTES), { wait_ms: 10_000 });
    const exact = queue.write(Buffer.from('x'), { offset: 0, exact: true, wait_ms: 10 });
    await expect(exact).rejects.toMatchObject({ code: 'stdin_offset_behind', fields: { accepted_bytes: STDIN_QUEUE_BYTES } });
    while (taker.bytes.length < 2 * STDIN_QUEUE_BYTES) taker.take();
    expect(await filling).toBe(2 * STDIN_QUEUE_BYTES);
    expect(taker.bytes.includes('x')).toBe(false);
  });

  test('with offsets the input is exact, however often parts are sent again and wherever they overlap', async () => {
    const source = Buffer.from(Uint8Array.from({ length: 600 }, (_, i) => (i * 37) & 0xff));
    const part = fc.record({ back: fc.nat({ max: 50 }), length: fc.nat({ max: 80 }), blind: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(mode, fc.array(part, { maxLength: 20 }), async (when, parts) => {
        const taker = new Taker(when);
        const queue = new StdinQueue(taker.child, true);
        for (const { back, length, blind } of parts) {
          const at = queue.accepted_bytes;
          const offset = blind ? at : Math.max(0, at - back);
          const accepted = await queue.write(source.subarray(offset, offset + length), { wait_ms: 10_000, ...(blind ? {} : { offset }) });
          expect(accepted).toBe(Math.max(at, Math.min(offset + length, source.length)));
        }
        expect(taker.bytes.equals(source.subarray(0, queue.accepted_bytes))).toBe(true);
      }),
    );
  });

  test('an offset ahead is refused with what was accepted, and nothing is taken of it', async () => {
    const taker = new Taker('at once');
    const queue = new StdinQueue(taker.child, true);
    await queue.write(Buffer.from('abc'), {});
    await expect(queue.write(Buffer.from('x'), { offset: 4 })).rejects.toMatchObject({
      code: 'stdin_offset_ahead',
      fields: { accepted_bytes: 3 },
    });
    expect(await queue.write(Buffer.from('cd'), { offset: 2 })).toBe(4);
    expect(taker.bytes.toString()).toBe('abcd');
  });

  test('holds 1 MiB at most; what finds no room in its time is told how far it got', async () => {
    const taker = new Taker('when told');
    const queue = new StdinQueue(taker.child, true);
    const bytes = Buffer.alloc(STDIN_QUEUE_BYTES + 100, 'x');
    await expect(queue.write(bytes, { offset: 0, wait_ms: 20 })).rejects.toMatchObject({
      code: 'stdin_backpressure',
      fields: { accepted_bytes: STDIN_QUEUE_BYTES, limit: STDIN_QUEUE_BYTES },
    });
    await expect(queue.write(Buffer.from('y'), { wait_ms: 0 })).rejects.toMatchObject({ code: 'stdin_backpressure' });
    const rest = queue.write(bytes, { offset: 0, wait_ms: 10_000 });
    taker.take(1);
    expect(await rest).toBe(bytes.length);
    taker.take();
    expect(taker.bytes.equals(bytes)).toBe(true);
  });

  test('a write that waits goes before one that came later, also when that one would fit', async () => {
    const taker = new Taker('when told');
    const queue = new StdinQueue(taker.child, true);
    const order: string[] = [];
    const write = (name: string, length: number) =>
      queue.write(Buffer.alloc(length, name), { wait_ms: 10_000 }).then(() => void order.push(name));
    const writes = [write('a', STDIN_QUEUE_BYTES - 10), write('b', 20), write('c', 1)];
    taker.take();
    taker.take();
    await Promise.all(writes);
    expect(order).toEqual(['a', 'b', 'c']);
    expect(taker.bytes.subarray(-21).toString()).toBe(`${'b'.repeat(20)}c`);
  });

  test('a caller that leaves takes its place with it', async () => {
    const taker = new Taker('when told');
    const queue = new StdinQueue(taker.child, true);
    await queue.write(Buffer.alloc(STDIN_QUEUE_BYTES), {});
    const leaving = new AbortController();
    const left = queue.write(Buffer.from('left'), { wait_ms: 10_000 }, leaving);
    const stays = queue.write(Buffer.from('stays'), { wait_ms: 10_000 });
    const why = new Error('the caller left');
    leaving.abort(why);
    await expect(left).rejects.toBe(why);
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
    taker.take();
    expect(await stays).toBe(STDIN_QUEUE_BYTES + 5);
    expect(taker.bytes.subarray(STDIN_QUEUE_BYTES).toString()).toBe('stays');
  });
});

describe('the end of input', () => {
  test('eof comes after all that was queued, once, and again does no harm', async () => {
    const taker = new Taker('at once');
    const queue = new StdinQueue(taker.child, true);
    expect(await queue.write(Buffer.from('all'), { eof: true })).toBe(3);
    expect(queue.open).toBe(false);
    expect(await queue.write(Buffer.alloc(0), { eof: true })).toBe(3);
    expect(await queue.write(Buffer.from('all'), { eof: true, offset: 0 })).toBe(3);
    expect([taker.eofs, taker.bytes.toString()]).toEqual([1, 'all']);
    for (const write of [() => queue.write(Buffer.from('x'), {}), () => queue.write(Buffer.from('llx'), { offset: 1 })]) {
      await expect(write()).rejects.toMatchObject({ code: 'stdin_closed', fields: { accepted_bytes: 3 } });
    }
  });

  test('eof of a write that waits for room waits with it', async () => {
    const taker = new Taker('when told');
    const queue = new StdinQueue(taker.child, true);
    const written = queue.write(Buffer.alloc(STDIN_QUEUE_BYTES + 1), { eof: true, wait_ms: 10_000 });
    expect([taker.eofs, queue.open]).toEqual([0, true]);
    taker.take();
    await written;
    expect(taker.eofs).toBe(1);
  });

  test('a process without input is at EOF from the start', async () => {
    const queue = new StdinQueue(new Taker('at once').child, false);
    expect(queue.open).toBe(false);
    await expect(queue.write(Buffer.from('x'), {})).rejects.toMatchObject({ code: 'stdin_closed' });
    expect(await queue.write(Buffer.alloc(0), { eof: true })).toBe(0);
  });

  test('a process that ends drops what is queued and tells everyone who waits', async () => {
    const taker = new Taker('when told');
    const queue = new StdinQueue(taker.child, true);
    await queue.write(Buffer.alloc(STDIN_QUEUE_BYTES), {});
    const waiting = [1, 2].map(() => queue.write(Buffer.from('x'), { wait_ms: 10_000 }));
    queue.end('process_exited');
    for (const write of waiting) await expect(write).rejects.toMatchObject({ code: 'process_exited' });
    const message = expect.stringContaining('purge=true frees its id');
    await expect(queue.write(Buffer.from('x'), { wait_ms: 10_000 })).rejects.toMatchObject({ code: 'process_exited', message });
    taker.take();
    expect(queue.accepted_bytes).toBe(STDIN_QUEUE_BYTES);
  });

  test.each<Mode>(['at once', 'later'])('a child that fails to take input %s has closed it', async (when) => {
    const taker = new Taker(when);
    const queue = new StdinQueue(taker.child, true);
    await queue.write(Buffer.from('good'), {});
    taker.failing = new Error('EPIPE');
    const results = await Promise.allSettled([1, 2, 3].map(() => queue.write(Buffer.alloc(STDIN_QUEUE_BYTES), { wait_ms: 10_000 })));
    const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : 'accepted'));
    expect(codes.slice(1)).toEqual(['stdin_closed', 'stdin_closed']);
    expect(queue.open).toBe(false);
    expect(taker.bytes.toString()).toBe('good');
  });
});
