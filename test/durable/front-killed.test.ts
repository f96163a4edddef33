import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { attach } from '../../src/client/index.js';
import { persist } from '../../src/client/persist.js';
import type { RemoteExecProcess } from '../../src/client/remote-exec-process.js';
import { retrySettings } from '../../src/client/retry.js';
import type { ProcessEvent } from '../../src/protocol/index.js';
import { spawnCli } from '../cli/spawn-cli.js';
import { RETRY, useHostedGateway } from './hosted-gateway.js';

const NUMBERS = fileURLToPath(new URL('../fixtures/numbers.mjs', import.meta.url));
const LINES = 20_000;
const KILLS = 5;
const WHOLE = Array.from({ length: LINES }, (_, i) => `${i + 1}\n`).join('');
const ON_TTY = WHOLE.replaceAll('\n', '\r\n');
const patience = { retry: retrySettings(RETRY) };
const gateway = useHostedGateway();

const seqOf = (event: ProcessEvent) => (event.event === 'gap' ? event.to_seq : event.seq);
const textOf = (events: ProcessEvent[]) =>
  Buffer.concat(events.flatMap((event) => (event.event === 'output' ? [event.chunk] : []))).toString();

/** Every event once, in order, with no gap. */
function expectWhole(events: ProcessEvent[], text: string): void {
  expect(events.filter(({ event }) => event === 'gap')).toEqual([]);
  expect(events.map(seqOf)).toEqual(events.map((_event, at) => at + 1));
  expect(events.slice(-2).map(({ event }) => event)).toEqual(['exited', 'closed']);
  expect(textOf(events)).toBe(text);
}

async function all(batches: AsyncIterable<ProcessEvent[]>): Promise<ProcessEvent[]> {
  const events: ProcessEvent[] = [];
  for await (const batch of batches) events.push(...batch);
  return events;
}

/** Reads by long-polls, and goes on where the last answer ended. */
async function polled(processes: RemoteExecProcess, process_id: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (let after_seq = 0; ; ) {
    const query = { after_seq, wait_ms: 10_000 };
    const output = await persist((signal) => processes.read(process_id, query, { signal }), { ...patience, wait_ms: 10_000 });
    chunks.push(...output.chunks.map(({ chunk }) => chunk));
    after_seq = output.next_seq - 1;
    if (output.closed) return Buffer.concat(chunks).toString();
  }
}

/** Feeds numbered lines, each at its offset, as often as it takes. */
async function fed(processes: RemoteExecProcess, process_id: string): Promise<void> {
  const input = Buffer.from(WHOLE);
  for (let offset = 0; offset < input.length; ) {
    const part = input.subarray(offset, offset + 4_000);
    const query = { offset, eof: offset + part.length === input.length };
    await persist((signal) => processes.write(process_id, part, query, { signal }), patience);
    offset += part.length;
  }
}

test('D1 a gateway that is killed 5 times: every reader has every byte once, every byte of input arrives once', async () => {
  const processes = gateway().processes();
  const numbers = async (tty: boolean) =>
    (await processes.start({ argv: [process.execPath, NUMBERS, String(LINES), '4000'], tty })).process.process_id;
  const [pipe, tty] = [await numbers(false), await numbers(true)];
  const { process: sink } = await processes.start({ argv: ['cat'], pipe_stdin: true });
  const to = { url: gateway().server.url, token: gateway().token, WebSocket, retry: RETRY };
  const env = { EXEC_GATEWAY_URL: gateway().server.url, EXEC_GATEWAY_TOKEN: gateway().token };
  const followed = await Promise.all([pipe, tty, sink.process_id].map((process_id) => processes.follow(process_id)));
  const logs = spawnCli(['logs', '-f', pipe], { env });
  await once(logs.child.stdout, 'data');
  const reading = Promise.all([
    polled(processes, pipe),
    polled(processes, tty),
    Promise.all([...followed, await attach({ ...to, process_id: pipe })].map(all)),
    logs.ended,
    fed(processes, sink.process_id),
  ]);
  const host = await gateway().hostPid();
  for (let kills = 0; kills < KILLS; kills++) {
    const { next_seq } = await persist((signal) => processes.get(pipe, {}, { signal }), patience);
    await gateway().crash();
    // There is news, unless it is over.
    await persist((signal) => processes.read(pipe, { after_seq: next_seq - 1, wait_ms: 10_000 }, { signal }), patience);
  }
  const [pipeText, ttyText, [pipeEvents = [], ttyEvents = [], echoed = [], attached = []], printed] = await reading;
  expect(pipeText).toBe(WHOLE);
  expect(ttyText).toBe(ON_TTY);
  expectWhole(pipeEvents, WHOLE);
  expectWhole(ttyEvents, ON_TTY);
  expectWhole(attached, WHOLE);
  expectWhole(echoed, WHOLE);
  expect([printed.code, printed.stdout.toString()]).toEqual([0, WHOLE]);
  expect(await gateway().hostPid()).toBe(host);
});

test('D2 ids, labels, seqs, offsets and the time-out of a process outlive the gateway, and a repeated start starts nothing', async () => {
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

test('D3 a gateway that is told to end leaves its processes running, and says how to end them', async () => {
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
