import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../support/told.js';
import { AttachClient } from './attach-client.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();
const open = (process_id: string, query = '') => AttachClient.open(gateway, `/processes/${process_id}/attach${query}`);

describe('exec-gateway.v1', () => {
  test('says hello, then every event with its number, then the end', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'read x; echo out; echo err >&2; echo more; exit 4'], { pipe_stdin: true });
    const viewer = await open(process_id);
    expect(await viewer.first('hello')).toMatchObject({
      process: { process_id, state: 'running', tty: null },
      accepted_bytes: 0,
      after_seq: 0,
      read_only: false,
      gap: null,
    });
    viewer.input(0, 'go\n');
    expect(await viewer.untilEnd()).toEqual({ code: 1000, reason: '{"exit_code":4,"signal":null}' });
    expect(viewer.seqs()).toEqual(viewer.seqs().map((_seq, at) => at + 1));
    expect(viewer.text().split('').sort().join('')).toBe('out\nerr\nmore\n'.split('').sort().join(''));
    expect(viewer.all('stream')[0]).toEqual({ type: 'stream', stream: 'stderr' });
    expect(viewer.all('accepted').at(-1)).toEqual({ type: 'accepted', accepted_bytes: 3 });
    expect(viewer.messages.slice(-2)).toMatchObject([{ type: 'exited', exit_code: 4, signal: null }, { type: 'closed' }]);
  });

  test('input that was accepted is skipped, a range ahead is told, and nothing is lost or comes twice', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const first = await open(process_id);
    first.input(0, 'hello ');
    first.input(0, 'hello ');
    first.input(3, 'lo big ');
    first.input(11, 'later');
    expect(await first.first('error')).toMatchObject({ about: 'input', code: 'stdin_offset_ahead', accepted_bytes: expect.any(Number) });
    await first.until(() => first.text() === 'hello big ');
    first.socket.terminate();
    const second = await open(process_id, `?after_seq=${first.seqs().at(-1)}`);
    expect((await second.first('hello')).accepted_bytes).toBe(10);
    second.input(6, 'big world\n');
    second.send({ type: 'eof' });
    await second.untilEnd();
    expect(first.text() + second.text()).toBe('hello big world\n');
  });

  test('input of another writer is told, never taken for a repetition, and it goes on from where it is', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const viewer = await open(process_id);
    await viewer.first('hello');
    await gateway.send('POST', `/processes/${process_id}/stdin`, { text: 'other ' });
    viewer.input(0, 'mine ');
    viewer.input(5, 'too ');
    expect(await viewer.first('error')).toMatchObject({ about: 'input', code: 'stdin_offset_behind', accepted_bytes: 6 });
    viewer.input(9, 'passed over');
    viewer.send({ type: 'input', offset: 6 });
    viewer.input(6, 'mine ');
    viewer.input(11, 'too ');
    viewer.send({ type: 'eof' });
    await viewer.untilEnd();
    expect(viewer.text()).toBe('other mine too ');
    expect(viewer.all('error')).toHaveLength(1);
  });

  test('resize and signal, and what is wrong with them, is told by an error and harms nothing', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'trap "echo told; exit 7" USR1; echo ready; while :; do sleep 0.05; done'], {
      tty: true,
    });
    const viewer = await open(process_id);
    await viewer.until(() => viewer.text().includes('ready'));
    const bad: [string, string, string][] = [
      ['nothing', 'message', 'invalid_json'],
      ['[]', 'message', 'invalid_request'],
      ['null', 'message', 'invalid_request'],
      ['{"type":"hello"}', 'message', 'invalid_request'],
      ['{"type":"resize","cols":0,"rows":1}', 'resize', 'invalid_request'],
      ['{"type":"resize","cols":1,"rows":1,"x":1}', 'resize', 'invalid_request'],
      ['{"type":"signal","signal":"NOPE"}', 'signal', 'invalid_argument'],
      ['{"type":"eof","now":true}', 'eof', 'invalid_request'],
      [`{"type":"eof","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'message', 'invalid_request'],
      [`{"type":"eof","many":[${'1,'.repeat(200_000)}1]}`, 'message', 'invalid_request'],
    ];
    for (const [message] of bad) viewer.socket.send(message);
    viewer.socket.send(Buffer.from('short'));
    viewer.socket.send(Buffer.alloc(9, 0xff));
    await viewer.until(() => viewer.all('error').length === bad.length + 2);
    const told = viewer.all('error').map(({ about, code }) => [about, code]);
    for (const [, about, code] of bad) expect(told).toContainEqual([about, code]);
    expect(told.filter(([about]) => about === 'input')).toEqual([
      ['input', 'invalid_request'],
      ['input', 'invalid_request'],
    ]);
    viewer.send({ type: 'resize', cols: 101, rows: 33 });
    viewer.send({ type: 'signal', signal: 'usr1' });
    expect((await viewer.untilEnd()).reason).toBe('{"exit_code":7,"signal":null}');
    const info = await (await gateway.fetch(`/processes/${process_id}`)).json();
    expect(info.tty).toEqual({ cols: 101, rows: 33 });
  });

  test('one that only looks on is refused whatever would change something', async () => {
    const { process_id } = await gateway.start(['cat'], { tty: true });
    const viewer = await open(process_id, '?read_only=true');
    expect((await viewer.first('hello')).read_only).toBe(true);
    viewer.input(0, 'x');
    for (const message of [{ type: 'resize', cols: 5, rows: 5 }, { type: 'signal', signal: 'KILL' }, { type: 'eof' }]) viewer.send(message);
    await viewer.until(() => viewer.all('error').length === 4);
    expect(viewer.all('error').map(({ about, code }) => `${about} ${code}`)).toEqual(
      ['input', 'resize', 'signal', 'eof'].map((about) => `${about} read_only`),
    );
    viewer.send({ type: 'detach' });
    expect(await viewer.untilEnd()).toEqual({ code: 1000, reason: '{"detached":true}' });
    expect(await (await gateway.fetch(`/processes/${process_id}`)).json()).toMatchObject({ state: 'running', tty: { cols: 80 } });
  });

  test('a late viewer gets a gap, then what is there; one stream alone is another choice', async () => {
    const script = 'seq 1 20000; read x; echo err >&2; read x';
    const { process_id } = await gateway.start(['sh', '-c', script], { pipe_stdin: true, retain_bytes: 1000 });
    const first = await open(process_id);
    await first.until(() => first.text().endsWith('\n20000\n'));
    first.input(0, Buffer.from('\n'));
    await first.until(() => first.text().endsWith('err\n'));
    const viewer = await open(process_id);
    const { gap } = await viewer.first('hello');
    await viewer.until(() => viewer.text().includes('20000\nerr') || viewer.text().includes('err\n'));
    expect(viewer.all('gap')[0]).toEqual({ type: 'gap', ...gap });
    const errors = await open(process_id, `?stream=stderr&after_seq=${gap?.to_seq}`);
    await errors.until(() => errors.bytes().length > 0);
    expect(errors.text()).toBe('err\n');
    for (const each of [first, viewer, errors]) each.socket.terminate();
  });

  test('B16 a process that does not read: the viewer is held, a signal still passes, others are not disturbed', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo ready; exec sleep 60'], { pipe_stdin: true });
    const viewer = await open(process_id);
    await viewer.until(() => viewer.text() === 'ready\n');
    for (let at = 0; at < 1_200_000; at += 12_000) viewer.input(at, Buffer.alloc(12_000));
    await viewer.until(() => (viewer.all('accepted').at(-1)?.accepted_bytes ?? 0) >= 900_000);
    viewer.send({ type: 'signal', signal: 'INT' });
    expect((await viewer.untilEnd()).reason).toBe('{"exit_code":130,"signal":"SIGINT"}');
  });

  test('B03 all that is on its way to a closed input is refused for that, whatever its place', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'exec <&-; echo ready; exec sleep 60'], { pipe_stdin: true });
    const viewer = await open(process_id);
    await viewer.until(() => viewer.text() === 'ready\n');
    for (let at = 0; at < 20; at++) viewer.input(at * 100_000, Buffer.alloc(100_000));
    await viewer.until(() => viewer.all('error').length > 0);
    viewer.input(50_000_000, Buffer.from('x'));
    viewer.send({ type: 'resize', cols: 1, rows: 1 });
    await viewer.until(() => viewer.all('error').some(({ about }) => about === 'resize'));
    const told = viewer.all('error').filter(({ about }) => about === 'input');
    expect(told.length).toBeGreaterThan(1);
    expect(new Set(told.map(({ code }) => code))).toEqual(new Set(['stdin_closed']));
    viewer.socket.terminate();
  });

  test('B25 a large paste arrives whole, in the largest message there may be, and a larger one ends the connection', async () => {
    const { process_id } = await gateway.start(['sha256sum'], { pipe_stdin: true });
    const viewer = await open(process_id);
    const input = randomBytes(4 * 1024 * 1024 - 8);
    viewer.input(0, input);
    viewer.send({ type: 'eof' });
    await viewer.untilEnd();
    expect(viewer.text()).toContain(sha256(input));
    const other = await gateway.start(['cat'], { pipe_stdin: true });
    const large = await open(other.process_id);
    large.input(0, Buffer.alloc(4 * 1024 * 1024));
    const { code, reason } = await large.untilEnd();
    expect(code).toBe(1009);
    expect(JSON.parse(reason)).toEqual({ code: 'payload_too_large', limit: 4 * 1024 * 1024 });
    expect(await (await gateway.fetch(`/processes/${other.process_id}`)).json()).toMatchObject({ state: 'running' });
  });
});
