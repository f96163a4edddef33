import { setImmediate as loop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { allServed, takeTurn } from '../../src/process/fair-turn.js';

/** Keeps the event loop busy, as the encoding and writing of a batch does. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

const fairTurn = () => new Promise<void>(takeTurn);

test('readers with much to pass on are served one after the other, each until it has passed on what it took', async () => {
  const told: string[] = [];
  const reader = async (name: string) => {
    for (let round = 0; round < 3; round++) {
      await fairTurn();
      told.push(`${name} takes`);
      work(1.5);
      for (let hop = 0; hop < 10; hop++) await null;
      told.push(`${name} writes`);
    }
  };
  await Promise.all([reader('a'), reader('b'), reader('c')]);
  const round = ['a', 'b', 'c'].flatMap((name) => [`${name} takes`, `${name} writes`]);
  expect(told).toEqual([...round, ...round, ...round]);
});

test('readers with little to pass on are served in groups, and whoever comes back stands at the end of the line', async () => {
  const told: number[] = [];
  const reader = async (number: number) => {
    for (let round = 0; round < 3; round++) {
      await fairTurn();
      told.push(number);
    }
  };
  const numbers = Array.from({ length: 20 }, (_, number) => number);
  await Promise.all(numbers.map(reader));
  expect(told).toEqual([...numbers, ...numbers, ...numbers]);
});

test('the loop goes on in between, however many readers there are and however much there is to read', async () => {
  await allServed(); // of the test before
  let serving = true;
  let served = 0;
  const readers = Array.from({ length: 50 }, async () => {
    for (let batch = 0; batch < 4; batch++) {
      await fairTurn();
      work(2);
      served++;
    }
  });
  let most = 0;
  const watch = (async () => {
    for (let before = served; serving; before = served) {
      await loop();
      most = Math.max(most, served - before);
    }
  })();
  await allServed();
  expect(served).toBe(200);
  await Promise.all(readers);
  serving = false;
  await watch;
  // 10 ms are five batches of 2 ms; the turn may begin before the loop and end after it.
  expect(most).toBeLessThanOrEqual(12);
});
