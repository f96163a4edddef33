import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { EventLog } from '../../src/process/event-log.js';
import { FollowCursor } from '../../src/process/follow-cursor.js';
import { Pacer } from '../../src/process/pacer.js';
import { DEFAULT_HOLD_MS } from '../../src/protocol/limits.js';

const RETAIN = 256 * 1024;
const PIECE = 16 * 1024;
const TOTAL = 400 * PIECE;

interface Pause {
  from: number;
  to: number;
}

/** Milliseconds that the program stood still. */
const length = (pause: Pause | undefined) => (pause === undefined ? 0 : pause.to - pause.from);

/** A program that prints as fast as it is read, 16 pieces a turn. */
class Printer {
  readonly log = new EventLog(RETAIN);
  /** When each pause began and ended. */
  readonly pauses: Pause[] = [];
  readonly pacer: Pacer;
  #paused = false;
  #resume = () => {};

  constructor() {
    this.pacer = new Pacer(this.log, { pause: () => this.#pause(), resume: () => this.#go() });
  }

  async print(total: number): Promise<void> {
    for (let printed = 0; printed < total; printed += PIECE) {
      if (this.#paused) await new Promise<void>((resolve) => (this.#resume = resolve));
      this.log.append('stdout', new Uint8Array(PIECE));
      this.pacer.appended();
      if (printed % (16 * PIECE) === 0) await turn();
    }
  }

  close(): void {
    this.log.appendClosed();
    this.pacer.close();
  }

  #pause(): void {
    this.#paused = true;
    this.pauses.push({ from: performance.now(), to: 0 });
  }

  #go(): void {
    this.#paused = false;
    (this.pauses.at(-1) as Pause).to = performance.now();
    this.#resume();
  }
}

/** Takes everything, `rest` between batches; returns bytes of output and of gaps. */
async function follow(cursor: FollowCursor, rest: () => Promise<unknown>): Promise<{ output: number; missed: number }> {
  let output = 0;
  let missed = 0;
  for await (const batch of cursor) {
    for (const event of batch) {
      if (event.event === 'output') output += event.chunk.length;
      if (event.event === 'gap') missed += event.bytes ?? Number.NaN;
    }
    await rest();
  }
  return { output, missed };
}

describe('the pacer', () => {
  test('a follower that keeps up never meets a gap, at whatever speed the program prints', async () => {
    const printer = new Printer();
    const followers = [1, 2, 3].map(() => follow(new FollowCursor(printer.log, printer.pacer, {}), () => turn()));
    await printer.print(TOTAL);
    printer.close();
    expect(await Promise.all(followers)).toEqual([1, 2, 3].map(() => ({ output: TOTAL, missed: 0 })));
  });

  test('a stalled follower costs the program its patience once, and nobody else a byte', async () => {
    const printer = new Printer();
    const stalled = new FollowCursor(printer.log, printer.pacer, {});
    const healthy = follow(new FollowCursor(printer.log, printer.pacer, {}), () => turn());
    await printer.print(TOTAL);
    const long = printer.pauses.filter((pause) => length(pause) > 200);
    expect(long).toHaveLength(1);
    expect(length(long[0])).toBeLessThan(DEFAULT_HOLD_MS + 500);
    printer.close();
    expect(await healthy).toEqual({ output: TOTAL, missed: 0 });
    const late = await follow(stalled, async () => {});
    expect(late).toEqual({ output: RETAIN, missed: TOTAL - RETAIN });
  });

  test('a follower that asks for it holds the program back until it reads on, whoever else is slow', async () => {
    const printer = new Printer();
    const owner = new FollowCursor(printer.log, printer.pacer, { hold_ms: 60_000 });
    const stalled = new FollowCursor(printer.log, printer.pacer, {});
    const printed = printer.print(TOTAL);
    while (stalled.paces) await turn();
    await turn();
    expect([owner.paces, printer.log.total_bytes <= RETAIN]).toEqual([true, true]);
    const reading = follow(owner, () => turn());
    await printed;
    printer.close();
    expect(await reading).toEqual({ output: TOTAL, missed: 0 });
  });

  test('a follower that was left behind paces again once it has caught up by itself', async () => {
    const printer = new Printer();
    const cursor = new FollowCursor(printer.log, printer.pacer, {});
    await printer.print(TOTAL);
    expect([cursor.paces, printer.pauses.length]).toEqual([false, 1]);
    const reading = follow(cursor, () => turn());
    await turn();
    while (!cursor.paces) await turn();
    await printer.print(TOTAL);
    printer.close();
    expect((await reading).missed).toBe(TOTAL - RETAIN);
  });

  test('a program that was just started waits for its first follower, for 500 ms and once', async () => {
    const lonely = new Printer();
    await lonely.print(TOTAL);
    expect(lonely.pauses).toHaveLength(1);
    expect(length(lonely.pauses[0])).toBeGreaterThan(450);
    expect(length(lonely.pauses[0])).toBeLessThan(900);

    const found = new Printer();
    const printed = found.print(TOTAL);
    while (found.pauses.length === 0) await turn();
    const late = follow(new FollowCursor(found.log, found.pacer, {}), () => turn());
    await printed;
    found.close();
    expect(await late).toEqual({ output: TOTAL, missed: 0 });
  });

  test('a program that nobody will follow is never held back', async () => {
    const alone = new Printer();
    alone.pacer.expectNobody();
    await alone.print(TOTAL);
    expect(alone.pauses).toEqual([]);
  });

  test('a follower that leaves lets the program go on at once', async () => {
    const left = new Printer();
    const leaving = new AbortController();
    const cursor = new FollowCursor(left.log, left.pacer, {}, { signal: leaving.signal });
    const printed = left.print(TOTAL);
    while (left.pauses.length === 0) await turn();
    leaving.abort();
    await printed;
    expect(left.pauses).toHaveLength(1);
    expect(length(left.pauses[0])).toBeLessThan(200);
    expect(await cursor[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
    expect(left.log.waiters.size).toBe(0);
  });
});

describe('a follow cursor', () => {
  test('leaves nobody in the list of waiters, however it ends', async () => {
    const { log, pacer } = new Printer();
    const leaving = new AbortController();
    const aborted = new FollowCursor(log, pacer, {}, { signal: leaving.signal })[Symbol.asyncIterator]();
    const next = aborted.next();
    const returned = new FollowCursor(log, pacer, {})[Symbol.asyncIterator]();
    const pending = returned.next();
    await turn();
    expect(log.waiters.size).toBe(2);
    leaving.abort();
    await returned.return?.();
    expect(await Promise.all([next, pending])).toEqual([1, 2].map(() => ({ done: true, value: undefined })));
    expect(log.waiters.size).toBe(0);
  });

  test('of one stream leaves out the others but not the gap or the end', async () => {
    const log = new EventLog(3);
    const pacer = new Pacer(log, { pause() {}, resume() {} });
    for (const text of ['ab', 'c', 'd']) log.append(text === 'c' ? 'stderr' : 'stdout', Buffer.from(text));
    log.append('stderr', Buffer.from('e'));
    log.appendExited({ exit_code: 0, signal: null });
    log.appendClosed();
    const cursor = new FollowCursor(log, pacer, { stream: 'stderr' });
    expect(cursor.gap).toEqual({ from_seq: 1, to_seq: 1, bytes: 2, reason: 'evicted' });
    const told: string[] = [];
    for await (const batch of cursor) told.push(...batch.map(({ event }) => event));
    expect(told).toEqual(['gap', 'output', 'output', 'exited', 'closed']);
    expect(new FollowCursor(log, pacer, { after_seq: 6 }).ended).toBe(true);
  });
});
