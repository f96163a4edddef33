import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useGateway, type WireGateway } from './use-gateway.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'csrf-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** The types that a page can send without asking first (Fetch standard, CORS-safelisted), and none at all. */
const TYPES: [name: string, type: string | undefined][] = [
  ['text/plain', 'text/plain'],
  ['text/plain with a charset', 'text/plain;charset=UTF-8'],
  ['a form', 'application/x-www-form-urlencoded'],
  ['multipart', 'multipart/form-data; boundary=x'],
  ['no type', undefined],
  ['JSON among others', 'text/plain, application/json'],
  ['JSON as a parameter', 'text/plain; application/json'],
  ['a relative of JSON', 'application/jsonp'],
];

/** A body of bytes, so that fetch adds no type of its own. */
const bytes = (value: unknown) => new Blob([JSON.stringify(value)]);

function request(gateway: WireGateway, path: string, type: string | undefined, body: Blob | undefined, rest: RequestInit = {}) {
  const headers = { ...(type === undefined ? {} : { 'content-type': type }), ...(rest.headers as Record<string, string>) };
  return gateway.fetch(path, { method: 'POST', ...rest, headers, ...(body === undefined ? {} : { body }) });
}

describe.each([
  ['with a token', {}],
  ['without one', { flags: ['--no-auth'], token: null }],
])('B05 a gateway %s', (_name, options) => {
  const gateway = useGateway(options);
  const marker = () => join(dir, 'marker');

  test.each(TYPES)('starts nothing for a body sent as %s', async (_kind, type) => {
    for (const origin of ['https://evil.example', undefined]) {
      const headers: Record<string, string> = origin === undefined ? {} : { origin };
      const start = bytes({ argv: ['touch', marker()] });
      for (const [method, path] of [
        ['POST', '/processes'],
        ['PUT', '/processes/csrf'],
        ['POST', '/run'],
      ] as const) {
        const reply = await request(gateway, path, type, start, { method, headers });
        expect([method, path, reply.status]).toEqual([method, path, origin === undefined ? 415 : 403]);
        expect(reply.headers.get('access-control-allow-origin')).toBeNull();
      }
    }
    expect([existsSync(marker()), await gateway.list()]).toEqual([false, []]);
  });

  test.each(TYPES)('feeds and signals nothing for a body sent as %s', async (_kind, type) => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    for (const [path, body] of [
      [`/processes/${process_id}/stdin`, { text: 'evil' }],
      [`/processes/${process_id}/stdin?eof=true`, {}],
      [`/processes/${process_id}/signal`, { signal: 'KILL' }],
      [`/processes/${process_id}/resize`, { cols: 1, rows: 1 }],
    ] as const) {
      expect((await request(gateway, path, type, bytes(body))).status).toBe(415);
      expect((await request(gateway, path, type, bytes(body), { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    }
    const info = (await (await gateway.fetch(`/processes/${process_id}`)).json()) as object;
    expect(info).toMatchObject({ state: 'running', stdin: { open: true, accepted_bytes: 0 } });
  });

  test('refuses every call of a foreign page, also those without a body', async () => {
    const { process_id } = await gateway.start(['sleep', '60']);
    for (const origin of ['https://evil.example', 'null', 'file://', `http://127.0.0.1.evil.example:${gateway.port}`]) {
      for (const [method, path] of [
        ['DELETE', `/processes/${process_id}`],
        ['POST', `/processes/${process_id}/stdin?eof=true`],
        ['GET', '/processes'],
        ['GET', `/processes/${process_id}/events`],
        ['GET', '/events'],
      ] as const) {
        const reply = await gateway.fetch(path, { method, headers: { origin } });
        expect([origin, method, path, reply.status]).toEqual([origin, method, path, 403]);
        expect((await reply.json()).code).toBe('origin_not_allowed');
      }
    }
    expect((await gateway.list())[0]?.state).toBe('running');
  });

  test('a preflight of a foreign page allows nothing', async () => {
    const reply = await gateway.fetch('/processes', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(reply.status).toBe(403);
    expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control-allow'))).toEqual([]);
  });

  test('takes JSON from programs, with a charset or without', async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"']) {
      expect((await request(gateway, '/run', type, bytes({ argv: ['true'] }))).status).toBe(200);
    }
  });
});

describe('B05 a page without the token', () => {
  const gateway = useGateway();

  test('gets no further than 401, whatever it sends', async () => {
    const { process_id } = await gateway.start(['sleep', '60']);
    for (const [method, path] of [
      ['POST', '/processes'],
      ['POST', `/processes/${process_id}/stdin`],
      ['POST', `/processes/${process_id}/signal`],
      ['DELETE', `/processes/${process_id}`],
    ] as const) {
      const body = method === 'POST' ? JSON.stringify({ argv: ['touch', join(dir, 'marker')], signal: 'KILL', text: 'x' }) : null;
      const reply = await fetch(gateway.server.url + path, { method, body, headers: { 'content-type': 'application/json' } });
      expect(reply.status).toBe(401);
    }
    expect((await gateway.list()).map(({ state }) => state)).toEqual(['running']);
  });
});
