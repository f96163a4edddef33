import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../../src/app.js';
import { DEFAULT_CONFIG } from '../../src/config.js';
import { Environment } from '../../src/environment.js';
import type { GatewayApp } from '../../src/plugins/gateway-app.js';

const TOKEN = 'correct-horse-battery-staple-correct-horse-battery-staple';
const TRIES = 5000;
/** Rounds that are not counted: code becomes fast only after some use. */
const WARM_UP = 500;

const environment = Environment.create();
let app: GatewayApp;

beforeAll(async () => {
  const never = new AbortController().signal;
  const probes = {
    ready: async () => {},
    shutting_down: () => false,
    stats: () => environment.stats(),
    stopping: never,
    streamsEnd: never,
  };
  app = await buildApp({ ...DEFAULT_CONFIG, token: TOKEN, log_level: 'silent' }, environment, probes);
  await app.ready();
});
afterAll(async () => {
  await app.close();
  await environment.close();
});

async function timeOf(token: string): Promise<number> {
  const headers = { host: 'localhost:8787', authorization: `Bearer ${token}` };
  const started = process.hrtime.bigint();
  const reply = await app.inject({ method: 'GET', url: '/processes', headers });
  const ns = Number(process.hrtime.bigint() - started);
  if (reply.statusCode !== 401) throw new Error(`${token} gave ${reply.statusCode}`);
  return ns;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

describe('B52 the time of a refusal', () => {
  test('is the same within 5 % wherever a token of the right length is wrong, over 5000 tries each', async () => {
    const wrong = [`X${TOKEN.slice(1)}`, `${TOKEN.slice(0, 28)}X${TOKEN.slice(29)}`, `${TOKEN.slice(0, -1)}X`, 'x'.repeat(TOKEN.length)];
    const times = wrong.map((): number[] => []);
    for (let round = -WARM_UP; round < TRIES; round++) {
      // In turns, and beginning with another one each time, so that what else the machine does meets all alike.
      for (let i = 0; i < wrong.length; i++) {
        const which = (i + round + WARM_UP) % wrong.length;
        const ns = await timeOf(wrong[which] as string);
        if (round >= 0) times[which]?.push(ns);
      }
    }
    const medians = times.map(median);
    expect(times.map(({ length }) => length)).toEqual(wrong.map(() => TRIES));
    expect(Math.max(...medians) / Math.min(...medians)).toBeLessThan(1.05);
  });
});
