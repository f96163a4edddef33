import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { EVENT_FRAMES_TYPE } from '../../src/protocol/index.js';
import { findNginx, Nginx } from '../support/nginx.js';
import { NGINX_GUIDE } from '../support/nginx-guide.js';
import { EventReader } from './event-reader.js';
import { FrameReader } from './frame-reader.js';
import { useGateway } from './use-gateway.js';

const NGINX = findNginx();
const gateway = useGateway({ flags: ['--heartbeat-ms', '200'] });

const bearer = () => ({ authorization: `Bearer ${gateway.server.token}` });
/** Prints the time, in milliseconds, for every line it is given. */
const CLOCK = ['sh', '-c', 'while read line; do date +%s%3N; done'];

async function ticks(process_id: string, count: number, seen: (count: number) => Promise<unknown>): Promise<void> {
  for (let i = 1; i <= count; i++) {
    await gateway.send('POST', `/processes/${process_id}/stdin`, { text: '\n' });
    await seen(i);
  }
}

/** The longest time between the printing of a line and its arrival, in milliseconds. */
async function slowestEvent(base: string): Promise<{ slowest: number; headers: Headers }> {
  const { process_id } = await gateway.start(CLOCK, { pipe_stdin: true });
  const reader = await EventReader.open(`${base}/processes/${process_id}/events`, { ...bearer(), 'accept-encoding': 'gzip, br' });
  await ticks(process_id, 5, (count) => reader.until(({ events }) => events.length >= count));
  reader.close();
  const delays = reader.events.map(({ data, at }) => at - Number(Buffer.from(JSON.parse(data).chunk, 'base64').toString()));
  expect(delays).toHaveLength(5);
  return { slowest: Math.max(...delays), headers: reader.reply.headers };
}

function expectStreamHeaders(headers: Headers, type = 'text/event-stream'): void {
  expect(headers.get('content-type')).toBe(type);
  expect(headers.get('cache-control')).toBe('no-cache, no-transform');
  expect([headers.get('content-encoding'), headers.get('content-length')]).toEqual([null, null]);
}

describe('B57 events come as they happen', () => {
  test('to a direct caller that would take them compressed', async () => {
    const { slowest, headers } = await slowestEvent(gateway.server.url);
    expect(slowest).toBeLessThan(500);
    expectStreamHeaders(headers);
    expect(headers.get('x-accel-buffering')).toBe('no');
  });

  test.skipIf(NGINX === null)('through nginx as it is by default: buffering on, HTTP/1.0 behind, gzip on', async () => {
    await using nginx = await Nginx.start(gateway.server.url);
    const { slowest, headers } = await slowestEvent(nginx.url);
    expect(slowest).toBeLessThan(500);
    expectStreamHeaders(headers);
  });

  test.skipIf(NGINX === null)('through nginx that compresses event streams too', async () => {
    await using nginx = await Nginx.start(gateway.server.url, ['gzip_types text/event-stream;', 'proxy_http_version 1.1;']);
    expect((await slowestEvent(nginx.url)).slowest).toBeLessThan(500);
  });

  test.skipIf(NGINX === null)('with their bytes as they are through nginx, to the end', async () => {
    await using nginx = await Nginx.start(gateway.server.url);
    const { process_id } = await gateway.start(CLOCK, { pipe_stdin: true });
    const reader = await FrameReader.open(`${nginx.url}/processes/${process_id}/events`, { ...bearer(), 'accept-encoding': 'gzip, br' });
    const events = reader.events();
    const delays: number[] = [];
    await ticks(process_id, 5, async () => {
      const { value } = await events.next();
      if (value?.event === 'output') delays.push(Date.now() - Number(Buffer.from(value.chunk).toString()));
    });
    expect(delays).toHaveLength(5);
    expect(Math.max(...delays)).toBeLessThan(500);
    expectStreamHeaders(new Headers(reader.reply.headers as Record<string, string>), EVENT_FRAMES_TYPE);
    await gateway.send('POST', `/processes/${process_id}/stdin`, { eof: true });
    const rest: string[] = [];
    for await (const { event } of events) rest.push(event);
    expect([rest, reader.whole]).toEqual([['exited', 'closed'], true]);
  });

  test.skipIf(NGINX === null)('as raw bytes through nginx, to the end', async () => {
    await using nginx = await Nginx.start(gateway.server.url);
    const { process_id } = await gateway.start(CLOCK, { pipe_stdin: true });
    const reply = await fetch(`${nginx.url}/processes/${process_id}/output?follow=true`, { headers: bearer() });
    const delays: number[] = [];
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
    await ticks(process_id, 5, async () => {
      const { value } = await reader.read();
      delays.push(Date.now() - Number(Buffer.from(value ?? []).toString()));
    });
    expect(Math.max(...delays)).toBeLessThan(500);
    await gateway.send('POST', `/processes/${process_id}/stdin`, { eof: true });
    expect((await reader.read()).done).toBe(true);
  });
});

describe('B49 a silent stream', () => {
  const CUT_AFTER = ['proxy_read_timeout 1s;'];
  let nginx: Nginx;
  beforeAll(async () => {
    if (NGINX !== null) nginx = await Nginx.start(gateway.server.url, CUT_AFTER);
  });
  afterAll(() => nginx?.[Symbol.asyncDispose]());

  test.skipIf(NGINX === null)('lives through a proxy that cuts after 1 s of silence, by heartbeats without an id', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo one; read line; echo two'], { pipe_stdin: true });
    for (const path of [`/processes/${process_id}/events`, '/events']) {
      const reader = await EventReader.open(nginx.url + path, bearer());
      expect(await reader.until(({ comments }) => comments >= 12), 'it lives').toBe(true);
      expect(reader.text.match(/^id:/gm)).toHaveLength(1);
      expect(reader.text).toMatch(/(: keep-alive\n\n){12}$/);
      reader.close();
    }
    const reader = await EventReader.open(`${nginx.url}/processes/${process_id}/events`, { ...bearer(), 'last-event-id': '1' });
    await reader.until(({ comments }) => comments >= 2);
    await gateway.send('POST', `/processes/${process_id}/stdin`, { text: '\n' });
    expect(await reader.until(({ ended }) => ended !== null)).toBe(true);
    expect([reader.ended, reader.events.map(({ id }) => id)]).toEqual(['complete', ['2', '3', '4']]);
  });

  test.skipIf(NGINX === null)('lives through it with the bytes of its events as they are', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo one; read line; echo two'], { pipe_stdin: true });
    const reader = await FrameReader.open(`${nginx.url}/processes/${process_id}/events`, bearer());
    let beats = 0;
    reader.onBeat = () => {
      beats++;
      if (beats === 12) void gateway.send('POST', `/processes/${process_id}/stdin`, { text: '\n' });
    };
    expect((await reader.all()).map(({ event }) => event)).toEqual(['output', 'output', 'exited', 'closed']);
    expect([beats >= 12, reader.whole]).toEqual([true, true]);
  });

  test.skipIf(NGINX === null)('would be cut there without them', async () => {
    const { process_id } = await gateway.start(['sleep', '60']);
    const reply = await fetch(`${nginx.url}/processes/${process_id}/output?follow=true`, { headers: bearer() });
    await expect(reply.text()).rejects.toThrow();
  });
});

describe('the nginx of the operations guide', () => {
  const behind = useGateway({ flags: ['--allow-host', '127.0.0.1'] });
  const { directives, above, below_prefix } = NGINX_GUIDE;

  test.skipIf(NGINX === null)('lets a large file through, both ways', async () => {
    await using nginx = await Nginx.start(behind.server.url, directives, above);
    const headers = { authorization: `Bearer ${behind.server.token}` };
    const path = join(tmpdir(), `through-nginx-${process.pid}`);
    const body = new Uint8Array(5 * 1024 * 1024).fill(7);
    try {
      const address = `${nginx.url}/fs/file?${new URLSearchParams({ path })}`;
      expect((await fetch(address, { method: 'PUT', headers, body })).status).toBe(201);
      expect((await (await fetch(address, { headers })).arrayBuffer()).byteLength).toBe(body.length);
    } finally {
      rmSync(path, { force: true });
    }
  });

  test.skipIf(NGINX === null)('lets a WebSocket through', async () => {
    await using nginx = await Nginx.start(behind.server.url, directives, above);
    const { process_id } = await behind.start(['cat'], { pipe_stdin: true });
    const headers = { authorization: `Bearer ${behind.server.token}` };
    const socket = new WebSocket(`${nginx.url.replace('http', 'ws')}/processes/${process_id}/attach`, { headers });
    const echo = once(socket, 'message');
    socket.on('open', () => socket.send(Buffer.from('through')));
    expect(String((await echo)[0])).toBe('through');
    const ended = once(socket, 'close');
    await behind.send('DELETE', `/processes/${process_id}`, undefined);
    expect((await ended)[0]).toBe(1000);
  });

  test.skipIf(NGINX === null)('below a prefix tells where a process and a session are', async () => {
    await using nginx = await Nginx.start(behind.server.url, [...directives, ...below_prefix], above, '/gate/');
    const headers = { authorization: `Bearer ${behind.server.token}`, 'content-type': 'application/json' };
    const started = await fetch(`${nginx.url}/processes`, { method: 'POST', headers, body: '{"argv":["true"],"process_id":"a"}' });
    expect(new URL(started.headers.get('location') ?? '', nginx.url).href).toBe(`${nginx.url}/processes/a`);
    const body = JSON.stringify({ token: behind.server.token });
    const session = await fetch(`${nginx.url}/session`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(session.headers.get('set-cookie')).toMatch(/; Path=\/gate\/; HttpOnly; SameSite=Strict$/);
    const again = await fetch(`${nginx.url}/session`, { headers: { cookie: session.headers.get('set-cookie')?.split(';')[0] ?? '' } });
    expect(again.status).toBe(200);
  });
});
