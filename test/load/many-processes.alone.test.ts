import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markedProcesses, until } from '../support/proc.js';
import { InProcessGateway, timers } from '../wire/in-process-gateway.js';
import { useGateway } from '../wire/use-gateway.js';
import { ByteMeter, EventMeter } from './event-meter.js';

const MANY = 500;
const SEQ = Array.from({ length: 2000 }, (_, i) => i + 1).join('\n').length + 1;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'many-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

interface Target {
  url: string;
  token: string | null;
  pid: number;
}

/** Prints, has a child of its own, and waits; every tenth one does so on a terminal. */
const SCRIPT = 'sleep 300 & seq 1 2000; wait';
const onTerminal = (i: number) => i % 10 === 9;

/** A call on a connection of its own, so that none stays open. */
function call<T>({ url, token }: Target, method: string, path: string, body?: unknown): Promise<{ status: number | undefined; json: T }> {
  const headers = {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, headers, agent: false }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      reply.on('end', () => resolve({ status: reply.statusCode, json: JSON.parse(text) }));
    });
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function start(target: Target, i: number): Promise<string> {
  const body = { argv: ['sh', '-c', SCRIPT], tty: onTerminal(i), env: { MANY_IN: dir } };
  const { status, json } = await call<{ process_id: string }>(target, 'POST', '/processes', body);
  expect(status).toBe(201);
  return json.process_id;
}

/** Starts all at once, follows each twice, ends each by DELETE; returns when everyone was told the end. */
async function runMany(target: Target): Promise<void> {
  const ids = await Promise.all(Array.from({ length: MANY }, (_, i) => start(target, i)));
  const events = ids.map((id) => new EventMeter(target.url, id, target.token));
  const bytes = ids.map((id) => new ByteMeter(target.url, id, target.token));
  const size = (i: number) => (onTerminal(i) ? SEQ + 2000 : SEQ);
  await until('all is read', () => ids.every((_, i) => events[i]?.bytes === size(i) && bytes[i]?.bytes === size(i)), 60_000);
  expect(markedProcesses(`MANY_IN=${dir}`)).toHaveLength(2 * MANY);

  const ended = await Promise.all(ids.map((id) => call(target, 'DELETE', `/processes/${id}?wait_ms=60000`)));
  expect(ended).toEqual(ids.map(() => ({ status: 200, json: { running: true } })));
  await Promise.all([...events, ...bytes].map(({ done }) => done));
  expect(
    events.filter(({ ended: end, exits, closes, holes, gaps }) => end === 'complete' && exits + closes === 2 && holes + gaps.length === 0),
  ).toHaveLength(MANY);
  expect(bytes.filter(({ ended: end, gap }, i) => end === 'complete' && gap === undefined && bytes[i]?.bytes === size(i))).toHaveLength(
    MANY,
  );
  await until('no descendant is left', () => markedProcesses(`MANY_IN=${dir}`).length === 0, 5000);
}

const descriptorsOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

describe('500 processes at once, each read by two followers, ended by DELETE', () => {
  const gateway = useGateway({ flags: ['--log-level', 'warn'] });

  test('lose nothing and leave nothing: no descendant, no descriptor, no request', { timeout: 120_000 }, async () => {
    const { url, token, pid } = gateway.server;
    await call({ url, token, pid }, 'POST', '/run', { argv: ['true'], tty: true });
    await gateway.clear();
    const before = descriptorsOf(pid);
    await runMany({ url, token, pid });
    const ended = await gateway.list();
    await Promise.all(ended.map(({ process_id }) => call(gateway.server, 'DELETE', `/processes/${process_id}?purge=true`)));
    expect(await gateway.server.metric('exec_gateway_processes_running')).toBe(0);
    await until('only this request is under way', async () => (await gateway.server.metric('exec_gateway_http_requests_in_flight')) === 1);
    await until(`there are ${before} descriptors again`, () => descriptorsOf(pid) <= before);
  });

  test('seen from inside leave no timer, nobody waiting and no listener', { timeout: 120_000 }, async () => {
    await using inside = await InProcessGateway.open();
    await inside.processes.run({ argv: ['true'], tty: true });
    const before = timers();
    await runMany({ url: inside.url, token: null, pid: process.pid });
    const { handler } = inside;
    expect([...handler.processes].filter(({ log }) => log.waiters.size > 0 || log.closed_seq === null)).toEqual([]);
    expect([handler.stats().running, handler.changes.watchers, handler.taps.size]).toEqual([0, 0, 0]);
    await until('no timer runs but that of the retention', () => timers() <= before + 1);
  });
});
