import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { findNginx, Nginx } from '../support/nginx.js';
import { rssBytes, sessionMembers, until } from '../support/proc.js';
import { AttachClient, refusal } from './attach-client.js';
import { InProcessGateway, timers } from './in-process-gateway.js';
import { useGateway, WireGateway } from './use-gateway.js';

const MIB = 1024 * 1024;
const NGINX = findNginx();
const IN_FLIGHT = 'exec_gateway_http_requests_in_flight';
const gateway = useGateway();
const impatient = useGateway({ flags: ['--heartbeat-ms', '500'] });
const open = (process_id: string, query = '', at = gateway, base?: string) =>
  AttachClient.open(at, `/processes/${process_id}/attach${query}`, true, base);
const nobody = (at = gateway) => until('nobody is attached', async () => (await at.server.metric(IN_FLIGHT)) === 1);

describe('viewers', () => {
  test('one that reads nothing gets a gap, costs no memory, and disturbs nobody', async () => {
    const { process_id } = await gateway.start(['yes'], { retain_bytes: 256 * 1024 });
    const slow = await open(process_id);
    await slow.until(() => slow.bytes().length > 0);
    slow.socket.pause();
    const healthy = await open(process_id, '?read_only=true');
    const before = rssBytes(gateway.server.pid);
    let seen = 0;
    await healthy.until(() => {
      seen += healthy.messages.splice(0).reduce((sum, message) => sum + (Buffer.isBuffer(message) ? message.length : 0), 0);
      return seen > 128 * MIB;
    });
    expect(rssBytes(gateway.server.pid) - before).toBeLessThan(64 * MIB);
    expect(healthy.all('gap')).toEqual([]);
    slow.socket.resume();
    const { from_seq, to_seq } = await slow.first('gap');
    expect(to_seq).toBeGreaterThan(from_seq);
    for (const each of [slow, healthy]) each.socket.terminate();
    await nobody();
  });

  test('several see the same from different places', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'for i in $(seq 1 300); do echo $i; done; read x; seq 301 600'], {
      pipe_stdin: true,
    });
    const first = await open(process_id);
    await first.until(() => first.text().includes('\n300\n'));
    const place = first.seqs()[0]!;
    const others = await Promise.all([0, place].map((after_seq) => open(process_id, `?after_seq=${after_seq}`)));
    first.input(0, '\n');
    await Promise.all([first, ...others].map((viewer) => viewer.untilEnd()));
    expect(others[0]?.seqs()).toEqual(first.seqs());
    expect(others[0]?.text()).toBe(first.text());
    expect(others[1]?.seqs()).toEqual(first.seqs().filter((seq) => seq > place));
  });

  test('B49 a silent one is asked whether it is there, also through a proxy that cuts silence; one that does not answer is dropped', async () => {
    const { process_id } = await impatient.start(['sleep', '60']);
    const viewer = await open(process_id, '', impatient);
    let pings = 0;
    viewer.socket.on('ping', () => {
      pings += 1;
    });
    const deaf = new WebSocket(`${impatient.server.url.replace('http', 'ws')}/processes/${process_id}/attach`, [], {
      headers: { authorization: `Bearer ${impatient.server.token}` },
      autoPong: false,
    });
    deaf.on('error', () => {});
    const [code] = await once(deaf, 'close');
    expect(code).toBe(1006);
    await until('it is asked', () => pings >= 5);
    expect(viewer.end).toBeNull();
    viewer.socket.terminate();
    await nobody(impatient);
  });

  test.skipIf(NGINX === null)('B49 lives through nginx that cuts after 2 s of silence', async () => {
    const directives = ['proxy_http_version 1.1;', 'proxy_set_header Upgrade $http_upgrade;', 'proxy_set_header Connection upgrade;'];
    await using nginx = await Nginx.start(impatient.server.url, [...directives, 'proxy_read_timeout 2s;']);
    const { process_id } = await impatient.start(['sh', '-c', 'read x; echo $x'], { pipe_stdin: true });
    const viewer = await open(process_id, '', impatient, nginx.url);
    let pings = 0;
    viewer.socket.on('ping', () => {
      pings += 1;
    });
    await until('it is asked for longer than the proxy waits', () => pings >= 5);
    viewer.input(0, 'still here\n');
    expect(await viewer.untilEnd()).toMatchObject({ code: 1000 });
    expect(viewer.text()).toBe('still here\n');
  });

  test('one that is killed is gone, and the process goes on', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const script = `const { WebSocket } = await import('ws');
      const socket = new WebSocket(process.argv[1], [], { headers: { authorization: process.argv[2] } });
      socket.on('open', () => { socket.send('hello'); console.log('open'); });`;
    const url = `${gateway.server.url.replace('http', 'ws')}/processes/${process_id}/attach`;
    const argv = ['--input-type=module', '-e', script, url, `Bearer ${gateway.server.token}`];
    const child: ChildProcess = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout!, 'data');
    const watching = await open(process_id);
    await watching.until(() => watching.text() === 'hello');
    child.kill('SIGKILL');
    await until('it is gone', async () => (await gateway.server.metric(IN_FLIGHT)) === 2);
    watching.input(5, ' again');
    watching.send({ type: 'eof' });
    await watching.untilEnd();
    expect(watching.text()).toBe('hello again');
  });

  test('one that closes its sending side half is ended, and nothing of HTTP is written into what it reads', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo hi; exec sleep 60']);
    const viewer = await open(process_id);
    await viewer.until(() => viewer.text() === 'hi\n');
    (viewer.socket as unknown as { _socket: { end(): void } })._socket.end();
    expect((await viewer.untilEnd()).code).toBe(1006);
    await nobody();
  });
});

test('B49 nothing is left of viewers: no timer, no waiter, no listener', async () => {
  await using inside = await InProcessGateway.open();
  const process_id = await inside.sleeper();
  const before = timers();
  const url = `ws://127.0.0.1:${inside.port}/processes/${process_id}/attach`;
  const viewers = Array.from({ length: 20 }, (_, i) => new AttachClient(url, i % 2 === 0 ? [] : ['exec-gateway.v1'], {}));
  await Promise.all(viewers.map(({ socket }) => once(socket, 'open')));
  await until('all wait', () => inside.waiting(process_id) === viewers.length);
  for (const [i, { socket }] of viewers.entries()) {
    if (i % 3 === 0) socket.terminate();
    else socket.close();
  }
  await until('nobody waits', () => inside.waiting(process_id) === 0);
  await until('no request is under way', async () => (await inside.inFlight()) === 0);
  await until('no timer is left', () => timers() <= before);
  expect(inside.waiting(process_id)).toBe(0);
});

describe.each(['SIGTERM', 'SIGINT'] as const)('B23 %s', (signal) => {
  test('ends viewers with 1001, whatever they do, and the gateway in time', async () => {
    const going = new WireGateway({ flags: ['--shutdown-grace-ms', '5000'] });
    await going.open();
    const plain = await going.start(['sh', '-c', "trap '' TERM; echo ready; while :; do sleep 0.1; done"]);
    const tty = await going.start(['cat'], { tty: true });
    const flood = await going.start(['yes']);
    const at = ({ process_id }: { process_id: string }, numbered = true) =>
      AttachClient.open(going, `/processes/${process_id}/attach`, numbered);
    const viewers = [await at(plain), await at(tty), await at(tty, false)];
    const stalled = await at(flood);
    stalled.socket.pause();
    const begun = performance.now();
    process.kill(going.server.pid, signal);
    await until('it stops', async () => (await going.fetch('/readyz')).status === 503);
    const late = `${going.server.url}/processes/${plain.process_id}/attach`;
    expect(await refusal(late, { authorization: `Bearer ${going.server.token}` })).toMatchObject({
      status: 503,
      body: { code: 'shutting_down' },
    });
    await going.server.stop(signal); // the second signal takes away the rest of the grace
    expect(performance.now() - begun).toBeLessThan(10_000);
    for (const viewer of viewers) expect((await viewer.untilEnd()).code).toBe(1001);
    for (const { pid } of [plain, tty, flood]) expect(sessionMembers(pid)).toEqual([]);
    expect(viewers[0]?.all('exited')[0]).toMatchObject({ signal: 'SIGKILL' });
    stalled.socket.terminate();
  });
});
