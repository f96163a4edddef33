import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CodexClient } from '../support/codex-client.js';
import { until } from '../support/proc.js';
import { untilStill } from '../support/told.js';
import { InProcessGateway } from '../wire/in-process-gateway.js';

/** How long a session outlives its connection here, in milliseconds. */
const LINGER_MS = 1_500;

let gateway: InProcessGateway;
beforeEach(async () => {
  gateway = await InProcessGateway.open({ codex_linger_ms: LINGER_MS });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const open = () => CodexClient.open(gateway.url);
const ready = (resume?: string) => CodexClient.ready(gateway.url, {}, resume);

/** Comes back to a session as soon as the server knows that its connection is gone. */
async function back(sessionId: string): Promise<CodexClient> {
  for (;;) {
    const client = await open();
    const { error } = await client.call('initialize', { clientName: 'test', resumeSessionId: sessionId });
    if (!error) {
      client.sessionId = sessionId;
      client.notify('initialized', {});
      return client;
    }
    expect(error.code).toBe(-32010);
    client.cut();
  }
}

const states = async () => (await gateway.processes.list()).processes.map(({ state }) => state);

describe('a session', () => {
  test('goes on after its connection, and its processes run free', async () => {
    const first = await ready();
    await first.start('p', ['sh', '-c', 'echo before; read x; seq 1 300000; echo after; read x'], { pipeStdin: true });
    await first.printed('p', 'before');
    first.cut();
    const [process] = (await gateway.processes.list()).processes;
    await gateway.processes.write(process?.process_id as string, Buffer.from('\n'));
    await until(
      'all was printed without a reader',
      async () => ((await gateway.processes.list()).processes[0]?.total_bytes ?? 0) > 1_988_000,
    );
    await using second = await back(first.sessionId);
    const { chunks, nextSeq, exited } = await second.result('process/read', { processId: 'p', afterSeq: 0, waitMs: 0 });
    const bytes = Buffer.concat(chunks.map(({ chunk }: { chunk: string }) => Buffer.from(chunk, 'base64')));
    expect(bytes.length).toBeGreaterThanOrEqual(1024 * 1024);
    expect(bytes.toString().endsWith('299999\n300000\nafter\n')).toBe(true);
    expect(exited).toBe(false);
    await second.result('process/write', { processId: 'p', chunk: 'Cg==', writeId: '1' });
    const pushes = await second.whole('p');
    expect(pushes.map(({ params }) => params.seq)).toEqual([nextSeq, nextSeq + 1]);
  });

  test('ends a while after its connection, and its processes with it', async () => {
    const first = await ready();
    await first.start('p', ['sh', '-c', 'echo ready; sleep 60']);
    await first.printed('p', 'ready');
    first.cut();
    await until('the process was ended', async () => (await states())[0] === 'closed');
    await using late = await open();
    expect(await late.code('initialize', { clientName: 'x', resumeSessionId: first.sessionId })).toBe(-32600);
    expect(await late.code('initialize', { clientName: 'x' })).toBe(0);
  });

  test('that was come back to lives on', async () => {
    const first = await ready();
    await first.start('p', ['sh', '-c', 'echo ready; sleep 60']);
    first.cut();
    await using second = await back(first.sessionId);
    await second.result('process/read', { processId: 'p', afterSeq: 1, waitMs: 2 * LINGER_MS });
    expect(await states()).toEqual(['running']);
  });

  test('knows an ended process for a while, and then its name is free', async () => {
    await using client = await ready();
    await client.start('p', ['true']);
    await client.whole('p');
    const again = { processId: 'p', argv: ['true'], cwd: 'file:///', env: { PATH: '/bin' }, tty: false };
    expect(await client.code('process/start', again)).toBe(-32600);
    await until('the name is free', async () => (await client.code('process/start', again)) === 0);
  });

  test('keeps what it was asked before its connection broke', async () => {
    const first = await ready();
    await first.start('p', ['cat'], { pipeStdin: true });
    await first.result('process/write', { processId: 'p', chunk: 'aGk=', writeId: 'once' });
    await first.result('process/read', { processId: 'p', afterSeq: 0, waitMs: 10_000 });
    first.cut();
    await using second = await back(first.sessionId);
    expect(await second.result('process/write', { processId: 'p', chunk: 'aGk=', writeId: 'once' })).toEqual({ status: 'accepted' });
    await second.result('process/write', { processId: 'p', chunk: 'IQ==', writeId: 'twice' });
    const { chunks } = await second.result('process/read', { processId: 'p', afterSeq: 1, waitMs: 10_000 });
    expect(Buffer.from(chunks[0].chunk, 'base64').toString()).toBe('!');
  });

  test('is one of several: none sees the processes of another', async () => {
    await using one = await ready();
    await using two = await ready();
    await one.start('p', ['sleep', '60']);
    expect(await two.code('process/read', { processId: 'p' })).toBe(-32600);
    expect(await two.result('process/terminate', { processId: 'p' })).toEqual({ running: false });
    await two.start('p', ['true']);
    await two.whole('p');
    expect(one.pushes('p')).toEqual([]);
  });

  test('is not given away while its connection lives, and is when that is dead without a word', async () => {
    await using alive = await ready();
    await using other = await open();
    for (let i = 0; i < 5; i++) expect(await other.code('initialize', { clientName: 'x', resumeSessionId: alive.sessionId })).toBe(-32010);
    alive.socket.pause(); // a peer that is gone does not answer either
    await until(
      'it was given away',
      async () => (await other.code('initialize', { clientName: 'x', resumeSessionId: alive.sessionId })) === 0,
    );
    alive.socket.resume();
    await alive.ended();
  });
});

describe('a reader that stops', () => {
  test('stops the process, and nothing is lost', async () => {
    await using client = await ready();
    client.socket.pause();
    client.socket.send(
      JSON.stringify({
        id: 'go',
        method: 'process/start',
        params: { processId: 'p', argv: ['seq', '1', '3000000'], cwd: 'file:///', env: { PATH: '/usr/bin:/bin' }, tty: false },
      }),
    );
    let id: string | undefined;
    await until('it was started', async () => {
      id = (await gateway.processes.list()).processes[0]?.process_id;
      return id !== undefined;
    });
    expect(await untilStill(gateway.processes, id as unknown as string)).toBeLessThan(22_888_896);
    client.socket.resume();
    const pushes = await client.whole('p');
    expect(pushes.map(({ params }) => params.seq)).toEqual(pushes.map((_, i) => i + 1));
    expect(client.output('p').length).toBe(22_888_896);
  });

  test('and leaves lets the process go on', async () => {
    const client = await ready();
    await client.start('p', ['seq', '1', '3000000']);
    client.socket.pause();
    client.cut();
    await until('it ran to its end', async () => (await states())[0] === 'closed');
    expect((await gateway.processes.list()).processes[0]?.total_bytes).toBe(22_888_896);
  });
});

describe('a connection', () => {
  test('that is half closed is over', async () => {
    const before = gateway.handler.stats().running;
    const client = await ready();
    await client.start('p', ['sleep', '60']);
    const half = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    half.write(
      `GET /exec-server HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    );
    let text = '';
    await new Promise<void>((resolve) => {
      half.on('data', (bytes) => {
        text += bytes.toString('latin1');
        if (text.includes('\r\n\r\n')) half.end();
      });
      half.on('end', resolve);
    });
    half.destroy();
    expect(text).toMatch(/^HTTP\/1\.1 101 /);
    expect(text.split('\r\n\r\n')[1]).not.toContain('HTTP/1.1');
    client.cut();
    await until('nothing is under way', async () => (await gateway.inFlight()) === 0);
    expect(gateway.handler.stats().running).toBe(before + 1);
  });

  test('leaves nothing behind, however often it comes', async () => {
    for (let i = 0; i < 20; i++) {
      const client = await ready();
      await client.start('p', ['sleep', '60']);
      client.call('process/read', { processId: 'p', waitMs: 60_000 }).catch(() => {}); // it is never answered
      client.cut();
    }
    await until('all ended', async () => (await states()).every((state) => state === 'closed'));
    expect(await gateway.inFlight()).toBe(0);
    for (const { process_id } of (await gateway.processes.list()).processes) expect(gateway.waiting(process_id)).toBe(0);
  });

  test('more sessions than there may be: those in which nothing runs make room', async () => {
    for (let i = 0; i < 260; i++) (await ready()).cut();
    const kept: CodexClient[] = [];
    for (let i = 0; i < 3; i++) kept.push(await ready());
    expect(await kept[0]?.result('environment/status')).toEqual({ status: 'ready' });
    for (const client of kept) client.cut();
    expect(kept).toHaveLength(3);
  });
});
