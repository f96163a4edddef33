import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { InProcessGateway } from './in-process-gateway.js';

let gateway: InProcessGateway;
beforeAll(async () => {
  gateway = await InProcessGateway.open();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const scrape = async () => (await fetch(`${gateway.url}/metrics`)).text();
const sample = (text: string, name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);

test('every metric has help, a type and a value', async () => {
  const lines = (await scrape()).trimEnd().split('\n');
  const known = (kind: string) => lines.flatMap((line) => new RegExp(`^# ${kind} (\\w+) .`).exec(line)?.[1] ?? []);
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#'));
  expect(samples.filter((line) => !/^\w+(\{(\w+="[^"]*",?)+\})? (-?[\d.e+-]+|Nan)$/.test(line))).toEqual([]);
  expect(known('TYPE')).toEqual(known('HELP'));
  // None was answered before the first scrape.
  const counted = known('TYPE').filter((name) => name !== 'exec_gateway_http_requests_total');
  expect([...new Set(samples.map((line) => line.split(/[{ ]/, 1)[0]))]).toEqual(counted);
  expect(known('TYPE').filter((name) => !/^(exec_gateway|process)_/.test(name))).toEqual([]);
});

test('the delay of the event loop is told once it was looked at, in order', async () => {
  const name = (which: string) => `exec_gateway_event_loop_delay_${which}_seconds`;
  let text = '';
  const known = async () => {
    text = await scrape();
    return Number.isFinite(sample(text, name('max')));
  };
  await until('it is known', known, 60_000);
  const [p50, p99, max] = ['p50', 'p99', 'max'].map((which) => sample(text, name(which))) as [number, number, number];
  expect([p50 >= 0, p50 <= p99, p99 <= max]).toEqual([true, true, true]);
});
