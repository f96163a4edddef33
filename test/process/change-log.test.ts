import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ChangeLog } from '../../src/process/change-log.js';

const append = (log: ChangeLog) => log.append(() => ({ event: 'removed', process_id: `p${log.last_id}` }));

describe('the change log', () => {
  test('gives what came after a number, in order and without holes, or says that it cannot', () => {
    const steps = fc.array(fc.record({ times: fc.constantFrom(1, 2, 5, 900), watched: fc.boolean() }), { maxLength: 12 });
    fc.assert(
      fc.property(steps, fc.double({ min: 0, max: 1, noNaN: true }), (list, place) => {
        const log = new ChangeLog();
        for (const { times, watched } of list) {
          log.watchers = watched ? 1 : 0;
          for (let i = 0; i < times; i++) append(log);
        }
        const after = Math.floor(place * log.last_id);
        const changes = log.after(after);
        // What happened while nobody watched is not there: then the answer is null, or all of it is.
        if (changes === null) expect(after).toBeLessThan(log.last_id);
        else {
          const ids = changes.map(({ id }) => id);
          expect(ids).toEqual([...ids].sort((a, b) => a - b));
          expect(ids.every((id) => id > after)).toBe(true);
        }
        expect(log.after(log.last_id)).toEqual([]);
      }),
    );
  });

  test('while watched it keeps at least the latest 1024', () => {
    const log = new ChangeLog();
    log.watchers = 1;
    for (let i = 1; i <= 10_000; i++) {
      append(log);
      const after = log.after(Math.max(0, i - 1024));
      if (after?.length !== Math.min(i, 1024)) expect([i, after?.length]).toEqual([i, Math.min(i, 1024)]);
    }
    expect(log.after(0)).toBeNull();
    expect(log.after(9_990)?.map(({ id }) => id)).toEqual([9991, 9992, 9993, 9994, 9995, 9996, 9997, 9998, 9999, 10_000]);
  });

  test('a watcher that comes after an unwatched time gets a new snapshot, never a list with a hole', () => {
    const log = new ChangeLog();
    log.watchers = 1;
    append(log);
    log.watchers = 0;
    append(log);
    append(log);
    log.watchers = 1;
    append(log);
    expect(log.after(3)?.map(({ id }) => id)).toEqual([4]);
    expect(log.after(1)).toBeNull();
    expect(log.after(2)).toBeNull();
  });

  test('asks for no description of a change that nobody watches', () => {
    const log = new ChangeLog();
    let made = 0;
    const describeIt = () => {
      made++;
      return { event: 'removed' as const, process_id: 'p' };
    };
    log.append(describeIt);
    log.watchers = 1;
    log.append(describeIt);
    expect([made, log.last_id]).toEqual([1, 2]);
  });

  test('wakes who waits', async () => {
    const log = new ChangeLog();
    log.watchers = 1;
    let woken = 0;
    log.waiters.add({ wake: () => woken++ });
    append(log);
    await turn();
    expect(woken).toBe(1);
  });
});
