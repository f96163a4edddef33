import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commandLine, markedProcesses, until } from '../support/proc.js';
import { RawConnection, requestText } from './raw-connection.js';
import { WireGateway } from './use-gateway.js';

const IGNORES_TERM = `trap '' TERM; echo ready; while :; do sleep 0.2; done`;

let dir: string;
let gateway: WireGateway;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'shutdown-'));
});
afterEach(() => {
  // Only after a failure is there one left.
  if (commandLine(gateway.server.pid).includes('serve')) process.kill(gateway.server.pid, 'SIGKILL');
  rmSync(dir, { recursive: true });
});

async function open(flags: string[] = []): Promise<void> {
  gateway = new WireGateway({ flags, env: { TMPDIR: dir } });
  await gateway.open();
}

/** What the gateway started, and what that started. */
const descendants = () => markedProcesses(`TMPDIR=${dir}`).filter((pid) => pid !== gateway.server.pid);

const get = (path: string) => requestText(`GET ${path} HTTP/1.1`, [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization]);

async function ask(path: string): Promise<RawConnection> {
  const connection = await RawConnection.open(gateway.port);
  return connection.send(get(path));
}

/** Begins the end, and resolves when the gateway says so. */
async function begin(signal: NodeJS.Signals): Promise<void> {
  process.kill(gateway.server.pid, signal);
  await until('the gateway is going down', async () => (await gateway.fetch('/readyz')).status === 503);
}

/** Starts a process and waits for its first line. */
async function ready(script: string, tty: boolean): Promise<string> {
  const { process_id } = await gateway.start(['sh', '-c', `echo ready; ${script}`], { tty, pipe_stdin: true });
  const output = await gateway.fetch(`/processes/${process_id}/output?wait_ms=20000&encoding=utf8`);
  expect(await output.text()).toContain('ready');
  return process_id;
}

describe.each(['SIGTERM', 'SIGINT'] as const)('B23 %s', (signal) => {
  test('ends the gateway within 10 s whatever is open, all processes with it, and tells everyone', async () => {
    await open();
    const plain = await ready('sleep 301 & sleep 302', false);
    const tty = await ready('sleep 303', true);
    const stubborn = await ready(IGNORES_TERM, false);
    const streams = await Promise.all([plain, tty, stubborn].map((id) => ask(`/processes/${id}/events`)));
    const raw = await ask(`/processes/${plain}/output?follow=true`);
    const all = await ask('/events');
    const idle = await ask('/healthz');
    const poll = await ask(`/processes/${plain}/output?after_seq=1&wait_ms=30000`);
    const exit = await ask(`/processes/${tty}?wait_ms=30000`);
    await Promise.all([...streams, raw, all, idle].map((connection) => connection.until((text) => text.includes('\r\n\r\n'))));
    const under_way = streams.length + [raw, all, poll, exit, 'this one'].length;
    await until('all are under way', async () => (await gateway.server.metric('exec_gateway_http_requests_in_flight')) === under_way);
    expect(descendants().length).toBeGreaterThanOrEqual(5);

    const started = performance.now();
    await begin(signal);
    // In between: new work is refused on old and new connections, health still answers.
    expect((await gateway.fetch('/healthz')).status).toBe(200);
    const refused = await gateway.send('POST', '/processes', { argv: ['touch', join(dir, 'late')] });
    expect([refused.status, (await refused.json()).code, refused.headers.get('retry-after')]).toEqual([503, 'shutting_down', '1']);
    idle.received = '';
    expect((await idle.send(get('/processes')).reply())?.status).toBe(503);

    const answered = await poll.reply();
    expect([answered?.status, JSON.parse(answered?.body ?? '{}').chunks]).toEqual([200, []]);
    expect((await exit.reply())?.status).toBe(200);
    for (const stream of streams) {
      expect(await stream.until((text) => text.endsWith('\r\n0\r\n\r\n')), 'ends as a stream that is complete').toBe(true);
      expect(stream.received).toMatch(/event: exited\n[\s\S]*event: closed\n/);
    }
    for (const stream of [raw, all]) expect(await stream.until((text) => text.endsWith('\r\n0\r\n\r\n'))).toBe(true);
    expect(all.received.match(/"reason":"shutdown"/g)?.length).toBeGreaterThanOrEqual(3);

    await gateway.server.stop(signal);
    expect(performance.now() - started).toBeLessThan(10_000);
    await Promise.all([...streams, raw, all, idle, poll, exit].map((connection) => connection.untilClosed()));
    expect(descendants()).toEqual([]);
  });
});

describe('B23 a shutdown', () => {
  test('of an idle gateway takes no grace, however many connections idle', async () => {
    await open(['--shutdown-grace-ms', '5000']);
    const idle = await Promise.all(Array.from({ length: 20 }, () => ask('/healthz')));
    await Promise.all(idle.map((connection) => connection.reply()));
    const silent = await RawConnection.open(gateway.port);
    const started = performance.now();
    await gateway.server.stop();
    expect(performance.now() - started).toBeLessThan(2000);
    await Promise.all([...idle, silent].map((connection) => connection.untilClosed()));
    expect(idle[0]?.closed).toBe(true);
  });

  test('is not held up by a request that never ends, or by a reader that does not read', async () => {
    await open();
    const { process_id } = await gateway.start(['yes']);
    const stalled = await ask(`/processes/${process_id}/events`);
    await stalled.until((text) => text.length > 0);
    stalled.socket.pause();
    const half = await RawConnection.open(gateway.port);
    half.send(
      `POST /processes HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n${gateway.authorization}\r\nContent-Type: application/json\r\n`,
    );
    half.send('Content-Length: 1000\r\n\r\n{"argv":');
    const started = performance.now();
    await gateway.server.stop();
    expect(performance.now() - started).toBeLessThan(10_000);
    stalled.destroy();
    await half.untilClosed();
    expect(descendants()).toEqual([]);
  });

  test('skips the grace at a second signal', async () => {
    await open(['--shutdown-grace-ms', '5000']);
    await ready(IGNORES_TERM, false);
    const started = performance.now();
    await begin('SIGTERM');
    await gateway.server.stop('SIGTERM');
    expect(performance.now() - started).toBeLessThan(4000);
    expect(descendants()).toEqual([]);
  });

  test('answers a run that is under way with what there is', async () => {
    await open();
    const run = gateway.send('POST', '/run', { argv: ['sh', '-c', 'echo begun; exec sleep 60'], process_id: 'run' });
    await until('the run has begun', async () =>
      (await (await gateway.fetch('/processes/run/output?wait_ms=5000')).text()).includes('chunk'),
    );
    const stopped = gateway.server.stop();
    const reply = await run;
    expect([200, 202]).toContain(reply.status);
    expect(await reply.json()).toMatchObject({ process_id: 'run', stdout: 'begun\n' });
    await stopped;
  });
});
