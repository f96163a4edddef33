import { describe, expect, test } from 'vitest';
import { AttachClient } from './attach-client.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();
const upstream = useGateway({ token: null, flags: ['--no-auth'] });
const proxy = useGateway(() => ({ flags: ['--upstream', upstream.server.url] }));

/** Frees the id while the process goes on, and starts another under it. */
async function replace(at = gateway): Promise<void> {
  await at.fetch('/processes/again?purge=true&grace_ms=600000', { method: 'DELETE' });
  const reply = await at.send('PUT', '/processes/again', { argv: ['cat'], pipe_stdin: true });
  expect(reply.status).toBe(201);
}

const printed = async (at = gateway) => (await at.fetch('/processes/again/output?encoding=utf8')).json();
const STUBBORN = ['sh', '-c', 'trap "" TERM; echo on; cat; sleep 600'];

describe.each([
  ['on this machine', gateway],
  ['behind a gateway', proxy],
])('a later process under the same id, %s', (_where, at) => {
  test('gets nothing of what those send who are attached to the one before', async () => {
    await at.start(STUBBORN, { process_id: 'again', pipe_stdin: true });
    const raw = await AttachClient.open(at, '/processes/again/attach', false);
    const numbered = await AttachClient.open(at, '/processes/again/attach');
    await numbered.until(() => numbered.text() === 'on\n');
    await replace(at);
    numbered.input(0, 'meant for another\n');
    numbered.send({ type: 'signal', signal: 'KILL' });
    numbered.send({ type: 'resize', cols: 9, rows: 9 });
    await numbered.until(() => numbered.all('error').length === 3);
    numbered.send({ type: 'eof' });
    await numbered.until(() => numbered.all('error').length === 4);
    expect(new Set(numbered.all('error').map(({ code }) => code))).toEqual(new Set(['process_not_found']));
    raw.socket.send(Buffer.from('meant for another\n'));
    expect(await raw.untilEnd()).toEqual({ code: 4404, reason: '{"code":"process_not_found"}' });
    expect(await printed(at)).toMatchObject({ chunks: [], exited: false });
    const { stdin } = await (await at.fetch('/processes/again')).json();
    expect(stdin).toEqual({ open: true, accepted_bytes: 0 });
    numbered.socket.terminate();
  });
});

test('nothing is done of what comes after the end that the gateway gave', async () => {
  await gateway.start(['cat'], { process_id: 'again', pipe_stdin: true });
  const viewer = await AttachClient.open(gateway, '/processes/again/attach');
  await viewer.first('hello');
  for (const message of [{ type: 'detach' }, { type: 'signal', signal: 'KILL' }]) viewer.send(message);
  viewer.input(0, 'late');
  expect((await viewer.untilEnd()).code).toBe(1000);
  const { state, stdin } = await (await gateway.fetch('/processes/again?wait_ms=300')).json();
  expect([state, stdin.accepted_bytes]).toEqual(['running', 0]);
});
