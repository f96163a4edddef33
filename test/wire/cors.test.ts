import { describe, expect, test } from 'vitest';
import { useGateway } from './use-gateway.js';

const ALLOWED = 'https://dash.example';
const OTHER = 'https://other.example';

const gateway = useGateway({ flags: ['--allow-origin', `${ALLOWED},http://localhost:5173`] });

/** Every form a reply can take. */
async function replies(origin: string): Promise<[name: string, reply: Response][]> {
  const { process_id } = await gateway.start(['echo', 'hello']);
  const at = `/processes/${process_id}`;
  const headers = { origin };
  const get = (path: string, more: Record<string, string> = {}) => gateway.fetch(path, { headers: { ...headers, ...more } });
  return [
    ['JSON', await get('/processes')],
    ['a long-poll', await get(`${at}/output?wait_ms=5000`)],
    ['raw bytes', await get(`${at}/output`, { accept: 'application/octet-stream' })],
    ['a raw stream', await get(`${at}/output?follow=true`)],
    ['events', await get(`${at}/events`)],
    ['no more events', await get(`${at}/events?after_seq=3`)],
    ['events of all', await get('/events')],
    ['the metrics', await get('/metrics')],
    ['health', await get('/healthz')],
    ['a start', await gateway.send('POST', '/processes', { argv: ['true'] }, headers)],
    ['a refused start', await gateway.send('POST', '/processes', { argv: ['no-such-program'] }, headers)],
    ['401 of events', await get(`${at}/events`, { authorization: 'Bearer wrong' })],
    ['401', await get('/processes', { authorization: '' })],
    ['404 of events', await get('/processes/none/events')],
    ['400 of events', await get(`${at}/events?after_seq=x`)],
    ['404', await get('/no/such/address')],
    ['405', await gateway.fetch('/run', { headers })],
    ['415', await gateway.fetch('/run', { method: 'POST', headers: { ...headers, 'content-type': 'text/plain' }, body: 'x' })],
  ];
}

describe('B37 CORS', () => {
  test.each([ALLOWED, 'http://localhost:5173'])('every reply to %s may be read there, streams and errors too', async (origin) => {
    for (const [name, reply] of await replies(origin)) {
      const { headers } = reply;
      expect([name, headers.get('access-control-allow-origin')]).toEqual([name, origin]);
      expect([name, headers.get('vary')?.toLowerCase()]).toEqual([name, expect.stringContaining('origin')]);
      expect([name, headers.get('access-control-allow-credentials')]).toEqual([name, null]);
      expect([name, headers.get('access-control-expose-headers')]).toEqual([
        name,
        expect.stringMatching(/Exec-Next-Seq.*Exec-Gap.*Location/),
      ]);
      expect([name, headers.get('x-content-type-options')]).toEqual([name, 'nosniff']);
      await reply.body?.cancel();
    }
  });

  test('no reply to another origin may be read there, and none is anything but a refusal', async () => {
    for (const [name, reply] of await foreign()) {
      expect([name, reply.headers.get('access-control-allow-origin')]).toEqual([name, null]);
      expect([name, reply.status]).toEqual([name, 403]);
      await reply.body?.cancel();
    }
  });

  test('no reply to a program, which has no origin, allows one', async () => {
    const { process_id } = await gateway.start(['true']);
    for (const path of ['/processes', `/processes/${process_id}/events`, '/none']) {
      const reply = await gateway.fetch(path);
      expect(reply.headers.get('access-control-allow-origin')).toBeNull();
      await reply.body?.cancel();
    }
  });

  test.each(['POST', 'PUT', 'DELETE', 'GET'])('the preflight of a %s needs no token and allows what a page needs', async (method) => {
    const asked = {
      origin: ALLOWED,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type',
    };
    for (const path of ['/processes', '/processes/x', '/processes/x/events', '/run']) {
      const reply = await fetch(gateway.server.url + path, { method: 'OPTIONS', headers: asked });
      expect(reply.status).toBe(204);
      expect(reply.headers.get('access-control-allow-origin')).toBe(ALLOWED);
      expect(reply.headers.get('access-control-allow-methods')).toContain(method);
      expect(reply.headers.get('access-control-allow-headers')?.toLowerCase()).toMatch(/authorization.*content-type.*last-event-id/);
    }
  });
});

/** The same calls by a page that is not allowed; nothing may have happened. */
async function foreign(): Promise<[name: string, reply: Response][]> {
  const headers = { origin: OTHER };
  const { process_id } = await gateway.start(['true']);
  const list: [string, Response][] = [];
  for (const path of [
    '/processes',
    `/processes/${process_id}/output?wait_ms=5000`,
    `/processes/${process_id}/events`,
    '/events',
    '/none',
    '/metrics',
  ]) {
    list.push([path, await gateway.fetch(path, { headers })]);
  }
  list.push(['no token', await gateway.fetch('/processes', { headers: { ...headers, authorization: '' } })]);
  list.push(['a start', await gateway.send('POST', '/processes', { argv: ['true'] }, headers)]);
  expect(await gateway.list()).toHaveLength(1);
  return list;
}
