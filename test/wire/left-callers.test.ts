import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { InProcessGateway, timers } from './in-process-gateway.js';
import { RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const MANY = 300;

/** Opens many requests for one path, all under way. */
async function openMany(port: number, path: string, headers: string[] = []): Promise<RawConnection[]> {
  const text = requestText(`GET ${path} HTTP/1.1`, [`Host: 127.0.0.1:${port}`, ...headers]);
  return Promise.all(Array.from({ length: MANY }, async () => (await RawConnection.open(port)).send(text)));
}

describe('B50 callers who leave, seen from inside', () => {
  // A MaxListeners warning, as any other, fails the run: see setup.ts.
  test.each([
    ['long-polls', '/output?wait_ms=30000'],
    ['waits for the exit', '?wait_ms=30000'],
    ['streams of events', '/events'],
    ['streams of bytes', '/output?follow=true'],
  ])('%s: nobody waits and no timer runs any more within 2 s', async (_kind, path) => {
    await using gateway = await InProcessGateway.open({ heartbeat_ms: 3_600_000 });
    const process_id = await gateway.sleeper();
    const before = timers();
    const callers = await openMany(gateway.port, `/processes/${process_id}${path}`);
    await until('all wait', () => gateway.waiting(process_id) === MANY);
    for (const caller of callers) caller.destroy();
    await until('nobody waits', () => gateway.waiting(process_id) === 0, 2000);
    await until('no timer runs', () => timers() <= before, 2000);
    expect((await gateway.processes.get(process_id)).state).toBe('running');
  });

  test('watchers of all processes: nothing is recorded for them any more', async () => {
    await using gateway = await InProcessGateway.open();
    await gateway.sleeper();
    const callers = await openMany(gateway.port, '/events?output=true');
    await until('all watch', () => gateway.handler.changes.watchers === MANY && gateway.handler.taps.size === MANY);
    await until('all wait', () => gateway.handler.changes.waiters.size === MANY);
    for (const caller of callers) caller.destroy();
    const { changes, taps } = gateway.handler;
    await until('nobody watches', () => changes.watchers === 0 && taps.size === 0 && changes.waiters.size === 0, 2000);
    await gateway.sleeper();
    expect(changes.after(changes.last_id - 1)).toBeNull();
  });

  test.each([
    ['reset', (caller: RawConnection) => caller.socket.resetAndDestroy()],
    ['closed', (caller: RawConnection) => caller.destroy()],
  ])('requests that wait behind a stream on one connection: none is left when it is %s', async (_how, leave) => {
    await using gateway = await InProcessGateway.open({ heartbeat_ms: 3_600_000 });
    const process_id = await gateway.sleeper();
    const at = `/processes/${process_id}`;
    const before = timers();
    const polls = Array.from({ length: 5 }, () => `${at}/output?wait_ms=60000`);
    const paths = [
      `${at}/events`,
      ...polls,
      `${at}?wait_ms=60000`,
      `${at}/output?follow=true`,
      `${at}/events`,
      '/events?output=true',
      '/healthz',
    ];
    const caller = await RawConnection.open(gateway.port);
    for (const path of paths) caller.send(requestText(`GET ${path} HTTP/1.1`, [`Host: 127.0.0.1:${gateway.port}`]));
    const { changes } = gateway.handler;
    await until('all wait', () => gateway.waiting(process_id) === paths.length - 2 && changes.watchers === 1);
    expect(await gateway.inFlight()).toBe(paths.length);
    leave(caller);
    await until('none is under way', async () => (await gateway.inFlight()) === 0, 2000);
    await until('nobody waits', () => gateway.waiting(process_id) === 0 && changes.watchers === 0 && changes.waiters.size === 0, 2000);
    await until('no timer runs', () => timers() <= before, 2000);
  });

  test('B49 heartbeats: each stream has one timer, which goes with it', async () => {
    await using gateway = await InProcessGateway.open({ heartbeat_ms: 50 });
    const process_id = await gateway.sleeper();
    const before = timers();
    const callers = await openMany(gateway.port, `/processes/${process_id}/events`);
    await Promise.all(callers.map((caller) => caller.until((text) => text.includes(': keep-alive'))));
    expect(timers()).toBeGreaterThanOrEqual(MANY);
    for (const caller of callers) caller.destroy();
    await until('no timer runs', () => timers() <= before, 2000);
  });

  test('a write that waits for room is given up', async () => {
    await using gateway = await InProcessGateway.open();
    const { process } = await gateway.processes.start({ argv: ['sleep', '60'], pipe_stdin: true });
    const before = timers();
    const body = Buffer.alloc(3 * 1024 * 1024, 'x');
    const lines = [`Host: 127.0.0.1:${gateway.port}`, 'Content-Type: application/octet-stream', `Content-Length: ${body.length}`];
    const caller = await RawConnection.open(gateway.port);
    caller.send(requestText(`POST /processes/${process.process_id}/stdin?wait_ms=60000 HTTP/1.1`, lines)).send(body);
    const accepted = () => gateway.handler.get(process.process_id).stdin.accepted_bytes;
    await until('it fills the queue', () => accepted() >= 1024 * 1024);
    caller.destroy();
    await until('its timer is gone', () => timers() <= before, 2000);
    expect(accepted()).toBeLessThan(body.length);
  });
});

describe('B50 callers who leave, seen from outside', () => {
  const gateway = useGateway();
  const IN_FLIGHT = 'exec_gateway_http_requests_in_flight';
  const own = () => [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization];

  /** Sends a whole request, and leaves before any answer. */
  async function leaveAfter(line: string, body: unknown): Promise<void> {
    const text = JSON.stringify(body);
    const caller = await RawConnection.open(gateway.port);
    caller.send(requestText(line, [...own(), 'Content-Type: application/json', `Content-Length: ${text.length}`], text));
    caller.socket.end();
    await once(caller.socket, 'finish');
    caller.destroy();
  }

  test('300 dropped long-polls leave no request under way after 2 s, and no warning', async () => {
    const { process_id } = await gateway.start(['sleep', '60']);
    const callers = await openMany(gateway.port, `/processes/${process_id}/output?wait_ms=30000`, [gateway.authorization]);
    await until('all are under way', async () => (await gateway.server.metric(IN_FLIGHT)) === MANY + 1);
    for (const caller of callers) caller.destroy();
    await until('none is', async () => (await gateway.server.metric(IN_FLIGHT)) === 1, 2000);
    expect(gateway.server.output.stderr).not.toMatch(/MaxListeners|Warning/);
  });

  test('a POST that takes 2 s to serve is not taken for one whose caller left', async () => {
    const reply = await gateway.send('POST', '/run', { argv: ['sh', '-c', 'sleep 2; echo done'] });
    expect([reply.status, await reply.json()]).toMatchObject([200, { exit_code: 0, stdout: 'done\n' }]);
  });

  test.each([
    ['POST', '/processes'],
    ['PUT', '/processes/left'],
    ['POST', '/run'],
  ])('a start by %s %s whose caller left goes on, whole', async (method, path) => {
    const dir = mkdtempSync(join(tmpdir(), 'left-'));
    const argv = ['sh', '-c', 'echo begun; sleep 0.2; touch "$1"', 'sh', join(dir, 'done')];
    await leaveAfter(`${method} ${path} HTTP/1.1`, { argv, process_id: 'left' });
    await until('it is there', async () => (await gateway.list()).length === 1);
    const info = await (await gateway.fetch('/processes/left?wait_ms=20000')).json();
    expect(info).toMatchObject({ process_id: 'left', exit_code: 0, reason: 'exited' });
    expect(existsSync(join(dir, 'done'))).toBe(true);
    const again = await gateway.send('PUT', '/processes/left', { argv });
    expect([again.status, (await again.json()).pid]).toEqual([200, info.pid]);
    rmSync(dir, { recursive: true });
  });

  test('a stream whose caller left leaves its process alone', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const caller = await RawConnection.open(gateway.port);
    caller.send(requestText(`GET /processes/${process_id}/events HTTP/1.1`, own()));
    await caller.until((text) => text.includes('\r\n\r\n'));
    caller.destroy();
    await until('the stream is gone', async () => (await gateway.server.metric(IN_FLIGHT)) === 1, 2000);
    await gateway.send('POST', `/processes/${process_id}/stdin`, { text: 'alive', eof: true });
    expect(await (await gateway.fetch(`/processes/${process_id}/output?follow=true`)).text()).toBe('alive');
  });
});
