import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { AttachClient } from './attach-client.js';
import { useGateway } from './use-gateway.js';

const native = useGateway();
const portable = useGateway({ env: { EXEC_GATEWAY_LAUNCHER: 'portable' } });
const upstream = useGateway({ token: null, flags: ['--no-auth'] });
const proxy = useGateway(() => ({ flags: ['--upstream', upstream.server.url] }));

describe.each([
  ['on this machine', native],
  ['started by the portable launcher', portable],
  ['behind a gateway', proxy],
])('%s', (_where, gateway) => {
  const open = (process_id: string) => AttachClient.open(gateway, `/processes/${process_id}/attach`);

  /** Resizes by requests until one is refused; what was answered. */
  async function byRequests(process_id: string): Promise<Set<string>> {
    const answers = new Set<string>();
    for (let rows = 10; ; rows = 30 - rows) {
      const reply = await gateway.send('POST', `/processes/${process_id}/resize`, { cols: 120, rows });
      answers.add(reply.status === 204 ? '204' : `${reply.status} ${(await reply.json()).code}`);
      if (reply.status !== 204) return answers;
    }
  }

  /** Resizes by messages, each one when the one before has arrived, until the connection ends. */
  async function byMessages({ socket }: AttachClient): Promise<void> {
    for (let rows = 10; socket.readyState === socket.OPEN; rows = 30 - rows) {
      socket.send(JSON.stringify({ type: 'resize', cols: 80, rows }));
      const left = new AbortController();
      socket.ping();
      await Promise.race([once(socket, 'pong', { signal: left.signal }), once(socket, 'close', { signal: left.signal })]);
      left.abort();
    }
  }

  test('B14 a resize meets the end of its process 100 times, by request and by message, and is done or refused, never a fault', async () => {
    const answers = new Set<string>();
    const run = async () => {
      const { process_id } = await gateway.start(['sh', '-c', 'read x; exec sleep 0.05'], { tty: true });
      const viewer = await open(process_id);
      viewer.input(0, '\n'); // it lives for so long from now on
      const [requests, end] = await Promise.all([byRequests(process_id), viewer.untilEnd(), byMessages(viewer)]);
      expect(end).toEqual({ code: 1000, reason: '{"exit_code":0,"signal":null}' });
      for (const { about, code } of viewer.all('error')) expect([about, code]).toEqual(['resize', 'process_exited']);
      for (const answer of requests) answers.add(answer);
    };
    for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 10 }, run));
    expect([...answers].sort()).toEqual(['204', '409 process_exited']);
    expect((await gateway.fetch('/healthz')).status).toBe(200);
  });

  test('B14 a resize after the exit, while others hold the terminal, is refused by a message', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'trap "" HUP; sleep 60 & exit 0'], { tty: true });
    const viewer = await open(process_id);
    await viewer.first('exited');
    viewer.send({ type: 'resize', cols: 90, rows: 20 });
    expect(await viewer.first('error')).toMatchObject({ about: 'resize', code: 'process_exited' });
    viewer.socket.terminate();
  });

  test('B14 without a terminal there is nothing to resize', async () => {
    const { process_id } = await gateway.start(['sleep', '60']);
    const viewer = await open(process_id);
    viewer.send({ type: 'resize', cols: 90, rows: 20 });
    expect(await viewer.first('error')).toMatchObject({ about: 'resize', code: 'not_a_tty' });
    expect((await gateway.send('POST', `/processes/${process_id}/resize`, { cols: 90, rows: 20 })).status).toBe(409);
    viewer.socket.terminate();
  });
});
