import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { EVENT_FRAMES_TYPE, type Stream } from '../../src/protocol/index.js';
import { GatewayServer } from '../support/gateway-server.js';
import { FrameReader } from './frame-reader.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway({ flags: ['--heartbeat-ms', '100'] });

const open = (process_id: string, query = '', headers: Record<string, string> = {}) =>
  FrameReader.open(`${gateway.server.url}/processes/${process_id}/events${query}`, {
    authorization: `Bearer ${gateway.server.token}`,
    ...headers,
  });

/** Starts a program, and waits until all of it can be told. */
async function closed(script: string, retain_bytes = 1_000_000): Promise<string> {
  const { process_id } = await gateway.start(['sh', '-c', script], { retain_bytes });
  await gateway.fetch(`/processes/${process_id}/output?follow=true`).then((reply) => reply.arrayBuffer());
  return process_id;
}

const seqs = async (reader: FrameReader) => (await reader.all()).map((event) => (event.event === 'gap' ? null : event.seq));

describe('events with their bytes as they are', () => {
  test('are a line of JSON each, and the bytes of output after it', async () => {
    const { reply } = await open(await closed("printf 'é\\n\\n{'"));
    expect(reply.statusCode).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': EVENT_FRAMES_TYPE,
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(await text(reply)).toBe(
      [
        '{"event":"output","seq":1,"stream":"stdout","bytes":5}\né\n\n{',
        '{"event":"exited","exit_code":0,"signal":null,"seq":2}\n',
        '{"event":"closed","seq":3}\n',
      ].join(''),
    );
  });

  test.each([
    [EVENT_FRAMES_TYPE, EVENT_FRAMES_TYPE],
    [`${EVENT_FRAMES_TYPE}, text/event-stream;q=0.9`, EVENT_FRAMES_TYPE],
    [`text/event-stream;q=0.1, ${EVENT_FRAMES_TYPE.toUpperCase()};q=0.2`, EVENT_FRAMES_TYPE],
    [`${EVENT_FRAMES_TYPE}, text/event-stream`, 'text/event-stream'],
    [`${EVENT_FRAMES_TYPE};q=0`, 'text/event-stream'],
    ['*/*', 'text/event-stream'],
    ['application/json', 'text/event-stream'],
  ])('are what Accept asks for by name: %s gives %s', async (accept, type) => {
    const { reply } = await open(await closed('true'), '', { accept });
    expect(reply.headers['content-type']).toBe(type);
    reply.resume();
  });

  test('begin after a number, and end for good', async () => {
    const process_id = await closed('echo one');
    expect(await seqs(await open(process_id, '?after_seq=1'))).toEqual([2, 3]);
    expect(await seqs(await open(process_id, '?after_seq=1', { 'last-event-id': '2' }))).toEqual([3]);
    expect((await open(process_id, '?after_seq=3')).reply.statusCode).toBe(204);
    const { reply } = await open(process_id, '?after_seq=4');
    expect([reply.statusCode, JSON.parse(await text(reply)).code]).toEqual([409, 'cursor_ahead']);
  });

  test('tell of a gap, ahead in a header too, and an exit inside of it', async () => {
    // What the shell leaves behind prints when it is gone.
    const dir = mkdtempSync(join(tmpdir(), 'event-frames-'));
    const go = join(dir, 'go');
    const script = `echo early; (until [ -e ${go} ]; do sleep 0.02; done; exec seq 1 100000) & exit 3`;
    const { process_id } = await gateway.start(['sh', '-c', script], { retain_bytes: 10_000 });
    expect(await (await gateway.fetch(`/processes/${process_id}?wait_ms=20000`)).json()).toMatchObject({ exit_code: 3 });
    const whole = await gateway.fetch(`/processes/${process_id}/output?follow=true&hold_ms=20000`);
    writeFileSync(go, '');
    expect((await whole.arrayBuffer()).byteLength).toBe(588_901);
    rmSync(dir, { recursive: true });

    const reader = await open(process_id);
    const gap = JSON.parse(String(reader.reply.headers['exec-gap']));
    const [before, exited, behind, ...rest] = await reader.all();
    expect(before).toEqual({ event: 'gap', from_seq: 1, to_seq: 1, bytes: 6, reason: 'evicted' });
    expect(exited).toMatchObject({ event: 'exited', seq: 2, exit_code: 3 });
    expect(behind).toEqual({ event: 'gap', ...gap, from_seq: 3, bytes: gap.bytes - 6 });
    expect(gap.bytes).toBeGreaterThan(500_000);
    expect(rest.map((event) => (event.event === 'gap' ? null : event.seq))).toEqual(rest.map((_, i) => gap.to_seq + 1 + i));
    const late = await gateway.fetch(`/processes/${process_id}/output?follow=true`);
    expect(JSON.parse(late.headers.get('exec-gap') as string)).toEqual(gap);
    expect((await late.arrayBuffer()).byteLength).toBe(588_901 - gap.bytes);
  });

  test('come from a fast program byte for byte, its two streams apart, with heartbeats when it is silent', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'seq 1 400000 & seq -f %.0fx 1 400000 >&2; wait; read line; printf end'], {
      pipe_stdin: true,
    });
    const reader = await open(process_id);
    const printed: Record<Stream, Buffer[]> = { stdout: [], stderr: [], pty: [] };
    let beats = 0;
    reader.onBeat = () => {
      beats++;
      if (beats === 3) void gateway.send('POST', `/processes/${process_id}/stdin`, { text: '\n', eof: true });
    };
    for await (const event of reader.events()) if (event.event === 'output') printed[event.stream].push(Buffer.from(event.chunk));
    expect(beats).toBeGreaterThanOrEqual(3);
    expect(reader.whole).toBe(true);
    const lines = (end: string) => Array.from({ length: 400_000 }, (_, i) => `${i + 1}${end}\n`).join('');
    expect(Buffer.concat(printed.stdout).toString() === `${lines('')}end`).toBe(true);
    expect(Buffer.concat(printed.stderr).toString() === lines('x')).toBe(true);
  });
});

test('a reader that is behind when the gateway ends reads no wrong byte, and no end', async () => {
  const server = await GatewayServer.start();
  const reply = await server.fetch('/processes', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ argv: ['seq', '1', '100000000'] }),
  });
  const { process_id } = (await reply.json()) as { process_id: string };
  const url = `${server.url}/processes/${process_id}`;
  const headers = { authorization: `Bearer ${server.token}` };
  const reader = await FrameReader.open(`${url}/events?hold_ms=60000`, headers);
  reader.reply.pause();
  await server.fetch(`/processes/${process_id}/output?wait_ms=20000&max_bytes=1`).then((reply) => reply.arrayBuffer());
  await server.stop('SIGTERM');
  let next = 1;
  let rest = '';
  for await (const event of reader.events()) {
    if (event.event !== 'output') continue;
    const lines = (rest + Buffer.from(event.chunk)).split('\n');
    rest = lines.pop() ?? '';
    expect(lines).toEqual(lines.map(() => String(next++)));
  }
  expect(next).toBeGreaterThan(1);
  expect(reader.whole).toBe(false);
});
