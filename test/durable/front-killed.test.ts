import { expect, test } from 'vitest';
import type { ProcessEvent } from '../../src/protocol/index.js';
import { CodexClient } from '../support/codex-client.js';
import { useHostedGateway } from './hosted-gateway.js';

const gateway = useHostedGateway();

const textOf = (events: ProcessEvent[]) =>
  Buffer.concat(events.flatMap((event) => (event.event === 'output' ? [event.chunk] : []))).toString();

async function all(batches: AsyncIterable<ProcessEvent[]>): Promise<ProcessEvent[]> {
  const events: ProcessEvent[] = [];
  for await (const batch of batches) events.push(...batch);
  return events;
}

test('D1 ids, labels, seqs, offsets and the time-out of a process outlive the gateway, and a repeated start starts nothing', async () => {
  const request = {
    process_id: 'kept',
    argv: ['sh', '-c', 'echo begun; read line; echo "$line"'],
    pipe_stdin: true,
    labels: { team: 'web' },
  };
  await gateway()
    .processes()
    .start({ process_id: 'limited', argv: ['sleep', '600'], timeout_ms: 500 });
  const before = await gateway().processes().start(request, { once: true });
  await gateway().processes().write('kept', Buffer.from('hel'), { offset: 0 });
  await gateway().crash();
  const processes = gateway().processes();
  const again = await processes.start(request, { once: true });
  expect([before.created, again.created, again.process.pid]).toEqual([true, false, before.process.pid]);
  expect(again.process).toMatchObject({ labels: { team: 'web' }, created_at: before.process.created_at, stdin: { accepted_bytes: 3 } });
  await processes.write('kept', Buffer.from('hello\n'), { offset: 0 });
  const events = await all(await processes.follow('kept'));
  expect(textOf(events)).toBe('begun\nhello\n');
  expect(await processes.get('kept')).toMatchObject({ state: 'closed', reason: 'exited' });
  expect(await processes.get('limited', { wait_ms: 20_000 })).toMatchObject({ reason: 'timed_out', signal: 'SIGTERM' });
});

test('D2 a gateway that is told to end leaves its processes running, and says how to end them', async () => {
  const { process } = await gateway()
    .processes()
    .start({ argv: ['sleep', '600'] });
  const { server, dir } = gateway();
  await server.stop();
  expect(server.output.stdout).toContain(`its processes run on; exec-gateway drain --data-dir ${dir} ends them`);
  expect((await gateway().status()).host).toMatchObject({ front: null, stats: { running: 1 } });
  await gateway().start();
  const processes = gateway().processes();
  expect(await processes.get(process.process_id)).toMatchObject({ state: 'running', pid: process.pid });
  await processes.terminate(process.process_id, { grace_ms: 0, wait_ms: 10_000 });
});

test('what a Codex client ran on a gateway that was killed is ended by the next one, what looks like it is not', async () => {
  const { server, token } = gateway();
  await using client = await CodexClient.ready(server.url, { authorization: `Bearer ${token}` });
  await client.start('long', ['sleep', '600']);
  const codex_session = client.sessionId;
  const label = [`codex_session=${codex_session}`];
  const [{ process_id } = expect.unreachable()] = (await gateway().processes().list({ label })).processes;
  const other = await gateway()
    .processes()
    .start({ argv: ['sleep', '600'], labels: { codex_session, codex_process: 'long' } });
  await gateway().crash();
  const processes = gateway().processes();
  expect(await processes.get(process_id, { wait_ms: 20_000 })).toMatchObject({ reason: 'terminated', signal: 'SIGKILL' });
  expect(await processes.get(other.process.process_id)).toMatchObject({ state: 'running' });
  await processes.terminate(other.process.process_id, { grace_ms: 0, wait_ms: 10_000 });
});
