import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { RemoteExecProcess } from '../../src/client/remote-exec-process.js';
import { CodexClient } from '../support/codex-client.js';
import { until } from '../support/proc.js';
import { untilStill } from '../support/told.js';
import { WireGateway } from '../wire/use-gateway.js';

/** The gateway that holds the processes, and the one in front of it that clients connect to. */
let upstream: WireGateway;
let front: WireGateway;

async function open(): Promise<void> {
  upstream = new WireGateway({ token: null, flags: ['--no-auth'], env: { SHELL: '/usr/bin/zsh', HOME: '/behind' } });
  await upstream.open();
  front = new WireGateway({ flags: ['--upstream', upstream.server.url] });
  await front.open();
}

const headers = () => ({ authorization: `Bearer ${front.server.token}` });
const ready = (resume?: string) => CodexClient.ready(front.server.url, headers(), resume);
const states = async () => (await upstream.list()).map(({ state }) => state);
const uri = (path: string) => `file://${path}`;

describe('a gateway in front of another', () => {
  beforeAll(open);
  afterEach(() => upstream.clear());
  afterAll(() => Promise.all([front.server.stop(), upstream.server.stop()]));

  test('tells the shell and the home of the machine where processes run', async () => {
    await using client = await CodexClient.open(front.server.url, headers());
    const { environmentInfo } = await client.result('initialize', { clientName: 'test' });
    expect(environmentInfo).toMatchObject({ shell: { name: 'zsh', path: '/usr/bin/zsh' }, userHomeDir: uri('/behind') });
    expect(await states(), 'to ask left nothing').toEqual([]);
  });

  test('takes a session up again after its connection', async () => {
    const first = await ready();
    await first.start('p', ['sh', '-c', 'echo before; read x; echo after; read x'], { pipeStdin: true });
    await first.printed('p', 'before');
    first.cut();
    let second: CodexClient | null = null;
    await until('the session is free', async () => {
      second = await ready(first.sessionId).catch(() => null);
      return second !== null;
    });
    await using client = second as unknown as CodexClient;
    await client.result('process/write', { processId: 'p', chunk: 'Cg==', writeId: '1' });
    await client.printed('p', 'after');
    const { chunks } = await client.result('process/read', { processId: 'p', afterSeq: 0, waitMs: 0 });
    expect(chunks.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2]);
  });

  test('a reader that stops stops the process, and nothing is lost', async () => {
    await using client = await ready();
    client.socket.pause();
    const params = { processId: 'p', argv: ['seq', '1', '3000000'], cwd: uri('/'), env: { PATH: '/usr/bin:/bin' }, tty: false };
    client.socket.send(JSON.stringify({ id: 'go', method: 'process/start', params }));
    let id: string | undefined;
    await until('it was started', async () => {
      id = (await upstream.list())[0]?.process_id;
      return id !== undefined;
    });
    const processes = new RemoteExecProcess({ url: upstream.server.url });
    expect(await untilStill(processes, id as unknown as string)).toBeLessThan(22_888_896);
    client.socket.resume();
    const pushes = await client.whole('p');
    expect(pushes.map(({ params }) => params.seq)).toEqual(pushes.map((_push, i) => i + 1));
    expect(client.output('p').length).toBe(22_888_896);
  });

  test('sends no request from a machine that is not that of the processes', async () => {
    await using client = await ready();
    const { error } = await client.call('http/request', { requestId: '1', method: 'GET', url: upstream.server.url, headers: [] });
    expect(error).toMatchObject({ code: -32601, message: expect.stringContaining('connect to that one') });
  });
});

describe('a gateway in front of another, when one of them ends,', () => {
  beforeEach(open);
  // What a test has ended by itself is ended already.
  afterEach(() => Promise.allSettled([front.server.stop(), upstream.server.stop()]));

  test('ends the processes of its sessions when it ends, and no other', async () => {
    const other = await upstream.start(['sleep', '60']);
    const first = await ready();
    await first.start('p', ['sh', '-c', 'trap "" TERM; echo ready; sleep 60']);
    await first.printed('p', 'ready');
    (await ready()).cut();
    await front.server.stop();
    expect((await first.ended()).code).toBe(1001);
    const running = (await upstream.list()).filter(({ state }) => state === 'running');
    expect(running.map(({ process_id }) => process_id)).toEqual([other.process_id]);
    await upstream.server.stop();
  });

  test('says so when the one behind is gone, and serves the next client too', async () => {
    await using watching = await ready();
    await watching.start('p', ['sleep', '60']);
    await using client = await ready();
    await upstream.server.stop();
    expect(await client.code('fs/readFile', { path: uri('/etc/hostname') })).toBe(-32603);
    const start = { processId: 'q', argv: ['true'], cwd: uri('/'), env: { PATH: '/bin' }, tty: false };
    const { error } = await client.call('process/start', start);
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('cannot be reached') });
    // It is told the end that the one behind still told, or its connection ends.
    const end = await watching.whole('p').catch(() => watching.closed);
    expect(Array.isArray(end) ? end.at(-2)?.params.exitCode : end?.code).toBeOneOf([143, 1011]);
    expect((await front.fetch('/healthz')).status).toBe(200);
    await using other = await ready();
    expect(await other.result('environment/status')).toEqual({ status: 'ready' });
    await front.server.stop();
  });
});
