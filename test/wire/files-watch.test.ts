import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { schemaFaults } from '../routes/spec-check.js';
import { GatewayServer } from '../support/gateway-server.js';
import { until } from '../support/proc.js';

let dir = '';
let server: GatewayServer;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'watched-'));
  server = await GatewayServer.start({ flags: ['--log-level', 'warn', '--heartbeat-ms', '200'] });
});
afterEach(async () => {
  await server.stop().catch(() => undefined); // it may have been stopped in the test
  rmSync(dir, { recursive: true, force: true });
});

/** A stream of text, read until it holds what is wanted, or ends. */
async function open(query = '', headers: Record<string, string> = {}) {
  const reply = await server.fetch(`/fs/watch?path=${encodeURIComponent(dir)}${query}`, { headers });
  const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const read = async (wanted: RegExp) => {
    while (!wanted.test(text)) {
      const { done, value } = await reader.read();
      if (done) return `${text}<end>`;
      text += value;
    }
    return text;
  };
  return { reply, read, leave: () => reader.cancel() };
}

it('is an event stream as openapi.yaml has it, kept alive by comments', async () => {
  const { reply, read, leave } = await open();
  expect(reply.headers.get('content-type')).toBe('text/event-stream');
  expect(reply.headers.get('cache-control')).toBe('no-cache, no-transform');
  await read(/event: ready\n/);
  writeFileSync(join(dir, 'a'), '');
  await read(/event: created\n/);
  const text = await read(/\n\n: keep-alive\n\n/);
  await leave();
  const events = text.split('\n\n').filter((block) => block.startsWith('id: '));
  const parsed = events.map((block) => {
    const [, id, event, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) as RegExpExecArray;
    return { id, event, data: JSON.parse(data as string) };
  });
  const schema = '#/paths/~1fs~1watch/get/responses/200/content/text~1event-stream/schema/contentSchema';
  expect(schemaFaults(schema, parsed)).toEqual([]);
  expect(parsed.map(({ event }) => event)).toEqual(['ready', 'created']);
});

it('a browser that comes back goes on: Last-Event-ID wins over the address', async () => {
  const first = await open();
  const ready = /^id: (.*)$/m.exec(await first.read(/\n\n/))?.[1] as string;
  await first.leave();
  writeFileSync(join(dir, 'a'), '');
  const second = await open('&after_id=000000000000-5', { 'last-event-id': ready });
  expect(await second.read(/event: created\n.*\n\n/)).toMatch(/^(: keep-alive\n\n)*id: .*-1\nevent: created\n/);
  await second.leave();
  const third = await open('', { 'last-event-id': '' });
  expect(await third.read(/\n\n/)).toMatch(/event: ready\n/);
  await third.leave();
});

it.each([
  ['a malformed id', '&after_id=1', {}, 400, 'invalid_cursor'],
  ['a malformed Last-Event-ID', '', { 'last-event-id': 'x' }, 400, 'invalid_cursor'],
  ['an unknown parameter', '&depth=2', {}, 400, 'invalid_request'],
])('%s is refused', async (_what, query, headers, status, code) => {
  const reply = await server.fetch(`/fs/watch?path=${encodeURIComponent(dir)}${query}`, { headers: headers as Record<string, string> });
  expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([status, code]);
});

it('a shutdown ends it, well', async () => {
  const { read } = await open();
  await read(/event: ready\n/);
  const stopped = server.stop();
  expect(await read(/<never>/)).toMatch(/<end>$/);
  await stopped;
});

it('after a restart an old id begins with an overflow', async () => {
  const before = await open();
  const ready = /^id: (.*)$/m.exec(await before.read(/\n\n/))?.[1] as string;
  await before.leave();
  await server.stop();
  server = await GatewayServer.start({ flags: ['--log-level', 'warn'] });
  const after = await open('', { 'last-event-id': ready });
  expect(await after.read(/\n\n/)).toMatch(/event: overflow\ndata: \{"reason":"unknown_id"\}\n\n$/);
  await after.leave();
});

it('a hundred readers share one watch, and leave no request behind', async () => {
  const readers = await Promise.all(Array.from({ length: 100 }, () => open('&recursive=true')));
  await Promise.all(readers.map(({ read }) => read(/event: ready\n/)));
  expect(await server.metric('exec_gateway_http_requests_in_flight')).toBe(101);
  writeFileSync(join(dir, 'a'), '');
  const texts = await Promise.all(readers.map(({ read }) => read(/event: created\n.*\n\n/)));
  expect(new Set(texts.map((text) => /^id: (.*)\nevent: created/m.exec(text)?.[1])).size).toBe(1);
  for (const { leave } of readers) await leave();
  await until('all have left', async () => (await server.metric('exec_gateway_http_requests_in_flight')) === 1);
});
