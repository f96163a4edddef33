import { afterEach, expect, test } from 'vitest';
import { LoopDelay } from '../../src/routes/loop-delay.js';
import { until } from '../support/proc.js';

const STALL_MS = 300;
const PATIENCE_MS = 60_000;

let delay: LoopDelay;
afterEach(() => delay.stop());

function stall(): void {
  const end = performance.now() + STALL_MS;
  while (performance.now() < end);
}

const measured = () => until('something is measured', () => delay.read().max >= 0, PATIENCE_MS);
/** Whether a stall of that length is in what is read; it is seen from one look at the loop to the next. */
const stalled = () => delay.read().max * 1000 >= STALL_MS - 20;

test('nothing is measured before somebody asks', () => {
  delay = new LoopDelay();
  expect([delay.measures, delay.read()]).toEqual([false, { p50: Number.NaN, p99: Number.NaN, max: Number.NaN }]);
  delay.ask();
  expect(delay.measures).toBe(true);
});

test('a loop that was held up shows, for everyone who asks within the window', async () => {
  delay = new LoopDelay();
  delay.ask();
  await measured();
  const { p50, p99, max } = delay.read();
  expect([p50 >= 0, p99 >= p50, max >= p99]).toEqual([true, true, true]);
  stall();
  await until('it is seen', stalled, PATIENCE_MS);
  for (let asked = 0; asked < 3; asked++) {
    delay.ask();
    expect(stalled()).toBe(true);
  }
});

test('it is told once at least when the window is over, and then no more', async () => {
  delay = new LoopDelay({ window_ms: 0 });
  delay.ask();
  await measured();
  stall();
  await until('it is seen', stalled, PATIENCE_MS);
  delay.ask();
  expect(stalled()).toBe(true);
  const left = () => {
    delay.ask();
    return !stalled();
  };
  await until('it has left the window', left, PATIENCE_MS);
});

test('when nobody asks any more it ends, and the next who asks begins anew', async () => {
  delay = new LoopDelay({ idle_ms: 1 });
  delay.ask();
  await until('it has ended', () => !delay.measures, PATIENCE_MS);
  delay.ask();
  expect(delay.measures).toBe(true);
  await until('it has ended again', () => !delay.measures, PATIENCE_MS);
});
