import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { waitUntil } from '../../src/process/wait-until.js';
import { Waiters } from '../../src/process/waiters.js';

describe('Waiters', () => {
  test('wake everyone who waited, once, after the turn', async () => {
    const waiters = new Waiters();
    const woken: number[] = [];
    for (let i = 0; i < 3; i++) waiters.add({ wake: () => woken.push(i) });
    waiters.wake();
    waiters.wake();
    waiters.add({ wake: () => woken.push(3) });
    expect(woken).toEqual([]);
    await turn();
    expect(woken).toEqual([0, 1, 2, 3]);
    waiters.wake();
    await turn();
    expect(woken).toEqual([0, 1, 2, 3]);
  });

  test('who left is not woken, and who comes while others are woken waits for the next time', async () => {
    const waiters = new Waiters();
    const woken: string[] = [];
    const gone = { wake: () => woken.push('gone') };
    waiters.add(gone);
    waiters.add({
      wake: () => {
        woken.push('first');
        waiters.add({ wake: () => woken.push('again') });
      },
    });
    waiters.delete(gone);
    waiters.wake();
    await turn();
    expect([woken, waiters.size]).toEqual([['first'], 1]);
    waiters.wake();
    await turn();
    expect(woken).toEqual(['first', 'again']);
  });

  test('a waiter that wakes the others does not stop the clock', async () => {
    const waiters = new Waiters();
    let rounds = 0;
    const done = new Promise<void>((resolve) => {
      const round = () => {
        if (++rounds === 5) return resolve();
        waiters.add({ wake: round });
        waiters.wake();
      };
      waiters.add({ wake: round });
    });
    waiters.wake();
    await done;
    expect(rounds).toBe(5);
  });
});

describe('waitUntil', () => {
  test('never misses what becomes ready, whenever that is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 4 }), fc.nat({ max: 4 }), async (ready_after, idle_wakes) => {
        const waiters = new Waiters();
        let ready = false;
        const waited = waitUntil(waiters, () => ready, 10_000);
        for (let i = 0; i < idle_wakes; i++) {
          waiters.wake();
          await turn();
        }
        for (let i = 0; i < ready_after; i++) await turn();
        ready = true;
        waiters.wake();
        expect([await waited, waiters.size]).toEqual([true, 0]);
      }),
    );
  });

  test('looks before it waits, and does not wait for nothing', async () => {
    const waiters = new Waiters();
    expect(await waitUntil(waiters, () => true, 10_000)).toBe(true);
    expect(await waitUntil(waiters, () => false, 0)).toBe(false);
    expect(await waitUntil(waiters, () => false, -1)).toBe(false);
    expect(waiters.size).toBe(0);
  });

  test('ends when the time does, and leaves nobody behind', async () => {
    const waiters = new Waiters();
    const started = performance.now();
    expect(await waitUntil(waiters, () => false, 30)).toBe(false);
    expect(performance.now() - started).toBeGreaterThan(28);
    expect(waiters.size).toBe(0);
  });

  test('looks once more when the time is over', async () => {
    let looks = 0;
    expect(await waitUntil(new Waiters(), () => ++looks > 1, 5)).toBe(true);
  });

  test('an abort rejects with its reason, before and during, and takes its listener away', async () => {
    const waiters = new Waiters();
    const reason = new Error('the caller left');
    await expect(waitUntil(waiters, () => true, 10_000, AbortSignal.abort(reason))).rejects.toBe(reason);

    const leaving = new AbortController();
    const waited = waitUntil(waiters, () => false, 10_000, leaving.signal);
    expect([waiters.size, getEventListeners(leaving.signal, 'abort').length]).toEqual([1, 1]);
    leaving.abort(reason);
    await expect(waited).rejects.toBe(reason);
    expect([waiters.size, getEventListeners(leaving.signal, 'abort').length]).toEqual([0, 0]);

    const staying = new AbortController();
    await waitUntil(waiters, () => false, 1, staying.signal);
    expect(getEventListeners(staying.signal, 'abort')).toEqual([]);
  });
});
