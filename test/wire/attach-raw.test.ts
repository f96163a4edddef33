import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { AttachClient } from './attach-client.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();
const raw = (process_id: string, query = '') => AttachClient.open(gateway, `/processes/${process_id}/attach${query}`, false);

describe('without a subprotocol', () => {
  test('binary messages are the bytes both ways, text is input too, and the end is told by the close', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'stty raw -echo; echo ready; head -c 6; exit 3'], { tty: true });
    const viewer = await raw(process_id);
    await viewer.until(() => viewer.text(false) === 'ready\n');
    viewer.socket.send('─');
    viewer.socket.send(Buffer.from([0xff, 0x00, 0x0a]));
    expect(await viewer.untilEnd()).toEqual({ code: 1000, reason: '{"exit_code":3,"signal":null}' });
    expect(viewer.bytes(false).subarray(6)).toEqual(Buffer.from([0xe2, 0x94, 0x80, 0xff, 0x00, 0x0a]));
    expect(viewer.headers['sec-websocket-extensions'], 'nothing is compressed').toBeUndefined();
  });

  test('what was sent in the tick of the opening is kept, in order', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'head -c 4000'], { pipe_stdin: true });
    const url = `${gateway.server.url.replace('http', 'ws')}/processes/${process_id}/attach`;
    const viewer = new AttachClient(url, [], { authorization: `Bearer ${gateway.server.token}` });
    const words = Array.from({ length: 1000 }, (_, i) => String(i).padStart(4, '0'));
    viewer.socket.once('open', () => {
      for (const word of words) viewer.socket.send(word);
    });
    await viewer.untilEnd();
    expect(viewer.text(false)).toBe(words.join(''));
  });

  test('a late viewer is told what it misses by a header of the 101', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'seq 1 20000; read x'], { pipe_stdin: true, retain_bytes: 1000 });
    await (await gateway.fetch(`/processes/${process_id}/events`)).body?.cancel();
    const reader = await AttachClient.open(gateway, `/processes/${process_id}/attach`);
    await reader.until(() => reader.text().endsWith('\n20000\n'));
    reader.socket.terminate();
    const viewer = await raw(process_id);
    const gap = JSON.parse(String(viewer.headers['exec-gap']));
    expect(gap).toMatchObject({ from_seq: 1, reason: 'evicted' });
    await viewer.until(() => viewer.text(false).endsWith('\n20000\n'));
    expect(gap.bytes + viewer.bytes(false).length).toBe(108_894);
    viewer.socket.terminate();
  });

  test('a viewer that falls behind later is closed with 4410, and told what it would have missed', async () => {
    const { process_id } = await gateway.start(['yes'], { retain_bytes: 64 * 1024 });
    const viewer = await raw(process_id);
    await viewer.until(() => viewer.messages.length > 0);
    viewer.socket.pause();
    // Another one goes on when the first was left behind.
    const other = await AttachClient.open(gateway, `/processes/${process_id}/attach?read_only=true`);
    let seen = 0;
    await other.until(() => {
      seen += other.messages.splice(0).reduce((sum, message) => sum + (Buffer.isBuffer(message) ? message.length : 0), 0);
      return seen > 32 * 1024 * 1024;
    });
    const closed = once(viewer.socket, 'close');
    viewer.socket.resume();
    const [code, reason] = await closed;
    expect(code).toBe(4410);
    expect(JSON.parse(reason)).toMatchObject({ code: 'output_evicted', bytes: expect.any(Number) });
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    other.socket.terminate();
  });

  test('input that is not taken closes with 4409; after the exit, and from one that only looks on, it is passed over', async () => {
    const closed = await gateway.start(['sleep', '60']);
    const viewer = await raw(closed.process_id);
    viewer.socket.send('x');
    expect(await viewer.untilEnd()).toEqual({ code: 4409, reason: '{"code":"stdin_closed"}' });
    const { process_id } = await gateway.start(['sh', '-c', 'head -c 1; sleep 0.5 & exit 0'], { pipe_stdin: true });
    const looking = await raw(process_id, '?read_only=true');
    looking.socket.send('not taken');
    const typing = await raw(process_id);
    typing.socket.send('y');
    await gateway.fetch(`/processes/${process_id}?wait_ms=5000`);
    typing.socket.send('z');
    for (const { code, reason } of [await looking.untilEnd(), await typing.untilEnd()]) {
      expect([code, reason]).toEqual([1000, '{"exit_code":0,"signal":null}']);
    }
    expect([looking.text(false), typing.text(false)]).toEqual(['y', 'y']);
  });

  test('viewers that type at once lose nothing of each other', async () => {
    const { process_id } = await gateway.start(['head', '-c', '3000'], { pipe_stdin: true });
    const viewers = await Promise.all(['a', 'b', 'c'].map(() => raw(process_id)));
    for (let i = 0; i < 1000; i++) for (const [at, viewer] of viewers.entries()) viewer.socket.send('abc'[at] as string);
    await viewers[0]?.untilEnd();
    const text = viewers[0]?.text(false) ?? '';
    for (const letter of 'abc') expect(text.replaceAll(new RegExp(`[^${letter}]`, 'g'), '')).toBe(letter.repeat(1000));
  });

  test('a process that is over gives its output and its end', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo done; kill -9 $$']);
    await gateway.fetch(`/processes/${process_id}?wait_ms=5000`);
    const viewer = await raw(process_id);
    expect(await viewer.untilEnd()).toEqual({ code: 1000, reason: '{"exit_code":137,"signal":"SIGKILL"}' });
    expect(viewer.text(false)).toBe('done\n');
  });
});
