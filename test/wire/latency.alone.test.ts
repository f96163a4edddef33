import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { ReadResult } from '../../src/protocol/index.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();

/** Prints the time at which it prints, in milliseconds, for every line it is given: one program, so that nothing is started in between. */
const CLOCK = ['perl', '-MTime::HiRes=time', '-e', '$| = 1; printf "%.3f\\n", time * 1000 while <STDIN>'];
const TIMES = 20;

const tick = (process_id: string) => gateway.send('POST', `/processes/${process_id}/stdin`, { text: '\n' });

/** Holds the middle of many delays to the limit, and none to more than 1 s: a busy machine may delay any single line. */
function expectWithin(limit_ms: number, delays: number[]): void {
  const sorted = delays.toSorted((a, b) => a - b);
  expect(sorted).toHaveLength(TIMES);
  expect(sorted.every(Number.isFinite)).toBe(true);
  expect(sorted[TIMES / 2]).toBeLessThan(limit_ms);
  expect(sorted.at(-1)).toBeLessThan(1000);
}

describe('how soon a reader learns of a line', () => {
  test.each([
    ['text', '/output?follow=true'],
    ['events', '/events'],
  ])('curl -N shows it within 100 ms of its printing, as %s', async (kind, path) => {
    const { process_id } = await gateway.start(CLOCK, { pipe_stdin: true });
    const curl = spawn('curl', ['-sSN', '-H', gateway.authorization, `${gateway.server.url}/processes/${process_id}${path}`]);
    const delays: number[] = [];
    for (let i = 0; i < TIMES; i++) {
      const shown = once(curl.stdout, 'data');
      await tick(process_id);
      const [bytes] = (await shown) as [Buffer];
      const now = Date.now();
      const text = kind === 'text' ? bytes.toString() : JSON.parse(/data: (.*)/.exec(bytes.toString())?.[1] ?? '{}').chunk;
      delays.push(now - Number(kind === 'text' ? text : Buffer.from(text, 'base64').toString()));
    }
    await gateway.send('POST', `/processes/${process_id}/stdin`, { eof: true });
    expect((await once(curl, 'close'))[0]).toBe(0);
    expectWithin(100, delays);
  });

  test('a long-poll wakes within 50 ms', async () => {
    const { process_id } = await gateway.start(CLOCK, { pipe_stdin: true });
    const delays: number[] = [];
    for (let seq = 0; seq < TIMES; seq++) {
      const poll = gateway.fetch(`/processes/${process_id}/output?after_seq=${seq}&wait_ms=20000&encoding=utf8`);
      await tick(process_id);
      const { chunks } = (await (await poll).json()) as ReadResult;
      delays.push(Date.now() - Number(chunks[0]?.chunk));
    }
    expectWithin(50, delays);
  });

  test('a wait for the exit ends within 50 ms of it', async () => {
    const argv = ['perl', '-MTime::HiRes=time', '-e', '$| = 1; <STDIN>; printf "%.3f", time * 1000'];
    const delays: number[] = [];
    for (let i = 0; i < TIMES; i++) {
      const { process_id } = await gateway.start(argv, { pipe_stdin: true });
      const wait = gateway.fetch(`/processes/${process_id}?wait_ms=20000`);
      await tick(process_id);
      expect((await (await wait).json()).exit_code).toBe(0);
      const now = Date.now();
      const printed = await (await gateway.fetch(`/processes/${process_id}/output`, { headers: { accept: 'text/plain' } })).text();
      delays.push(now - Number(printed));
    }
    expectWithin(50, delays);
  });

  test('a long-poll without news answers at its time, with 200 and nothing', async () => {
    const { process_id } = await gateway.start(['sleep', '60']);
    const started = performance.now();
    const reply = await gateway.fetch(`/processes/${process_id}/output?wait_ms=500`);
    const took = performance.now() - started;
    expect([reply.status, ((await reply.json()) as ReadResult).chunks]).toEqual([200, []]);
    expect(took).toBeGreaterThan(490);
    expect(took).toBeLessThan(1500);
  });
});
