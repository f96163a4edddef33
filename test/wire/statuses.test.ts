import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Problem, ReadResult } from '../../src/protocol/index.js';
import { RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway({ flags: ['--max-body-bytes', '100000'] });

async function problem(path: string, init: RequestInit = {}): Promise<Problem & { headers: Headers }> {
  const reply = await gateway.fetch(path, init);
  expect(reply.headers.get('content-type')).toBe('application/problem+json');
  const body = (await reply.json()) as Problem;
  expect(body.status).toBe(reply.status);
  expect(body.detail.length).toBeGreaterThan(10);
  return { ...body, headers: reply.headers };
}

describe('a method that an address does not know', () => {
  test.each([
    ['GET', '/run', ['POST']],
    ['PATCH', '/processes', ['GET', 'POST']],
    ['DELETE', '/processes', ['GET', 'POST']],
    ['POST', '/processes/x', ['GET', 'PUT', 'DELETE']],
    ['POST', '/processes/x/output', ['GET']],
    ['PUT', '/processes/x/events', ['GET']],
    ['GET', '/processes/x/stdin', ['POST']],
    ['GET', '/processes/x/signal', ['POST']],
    ['GET', '/processes/x/resize', ['POST']],
    ['POST', '/events', ['GET']],
    ['POST', '/metrics', ['GET']],
    ['POST', '/openapi.json', ['GET']],
    ['OPTIONS', '/processes', ['GET', 'POST']],
  ])('%s %s is 405 with those it knows', async (method, path, allowed) => {
    const { status, code, allowed: told, headers } = await problem(path, { method });
    expect([status, code]).toEqual([405, 'method_not_allowed']);
    expect([...(told ?? [])].sort()).toEqual([...allowed].sort());
    expect(headers.get('allow')?.split(', ').sort()).toEqual([...allowed].sort());
  });

  test('HEAD is 405 too, without a body', async () => {
    const { process_id } = await gateway.start(['true']);
    for (const path of ['/processes', `/processes/${process_id}`, `/processes/${process_id}/events`, `/processes/${process_id}/output`]) {
      const connection = await RawConnection.open(gateway.port);
      connection.send(
        requestText(`HEAD ${path} HTTP/1.1`, [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization, 'Connection: close']),
      );
      await connection.untilClosed();
      expect(connection.received).toMatch(/^HTTP\/1\.1 405 /);
      expect(connection.received.endsWith('\r\n\r\n')).toBe(true);
    }
  });
});

describe('what is not there', () => {
  test.each(['/nothing', '/processes/x/y/z', '/run/x', '/fs', '/.env', '/index.html'])('%s is 404 not_found', async (path) => {
    expect(await problem(path)).toMatchObject({ status: 404, code: 'not_found' });
  });

  test.each([
    ['GET', '', undefined],
    ['GET', '/output', undefined],
    ['GET', '/output?follow=true', undefined],
    ['GET', '/events', undefined],
    ['POST', '/stdin', { text: 'x' }],
    ['POST', '/signal', { signal: 'TERM' }],
    ['POST', '/resize', { cols: 1, rows: 1 }],
    ['DELETE', '', undefined],
  ])('%s /processes/none%s is 404 process_not_found with the id', async (method, rest, body) => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    expect(await problem(`/processes/none${rest}`, init)).toMatchObject({ status: 404, code: 'process_not_found', process_id: 'none' });
  });
});

describe('an id that cannot be', () => {
  test.each(['a b', 'é', 'x'.repeat(129)])('%s is told with what an id is, and nothing of retention', async (id) => {
    const { code, detail } = await problem(`/processes/${id}`);
    expect(code).toBe('process_not_found');
    expect(detail).toMatch(/: an id is 1 to 128 of A-Z a-z 0-9 \. _ : -, but not "\." or "\.\."\.$/);
  });
});

describe('a working directory outside of where they are confined to', () => {
  const root = mkdtempSync(join(tmpdir(), 'confined-'));
  const confined = useGateway({ flags: ['--fs-root', root, '--confine-cwd'] });
  afterAll(() => rmSync(root, { recursive: true }));

  test.each([
    ['POST', '/processes'],
    ['PUT', '/processes/x'],
    ['POST', '/run'],
  ])('%s %s is 403 path_outside_root, as openapi.yaml says', async (method, path) => {
    const reply = await confined.send(method, path, { argv: ['true'], cwd: '/' });
    expect([reply.status, ((await reply.json()) as Problem).code]).toEqual([403, 'path_outside_root']);
  });
});

describe('the form of a reply', () => {
  test.each([
    [undefined, 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/json', 'application/json; charset=utf-8'],
    ['application/octet-stream', 'application/octet-stream'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/*', 'text/plain; charset=utf-8'],
    ['application/octet-stream;q=0.5, text/plain', 'text/plain; charset=utf-8'],
    ['application/json;q=0, */*', 'application/octet-stream'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/json; charset=utf-8'],
  ])('Accept %s gives %s', async (accept, type) => {
    const { process_id } = await gateway.start(['sh', '-c', 'printf hello; exit 7']);
    await (await gateway.fetch(`/processes/${process_id}/output?follow=true`)).text();
    const reply = await gateway.fetch(`/processes/${process_id}/output`, accept === undefined ? {} : { headers: { accept } });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, type]);
    if (type.startsWith('application/json')) expect(((await reply.json()) as ReadResult).closed).toBe(true);
    else {
      const names = ['exec-next-seq', 'exec-exited', 'exec-exit-code', 'exec-closed', 'exec-gap'];
      expect(names.map((name) => reply.headers.get(name))).toEqual(['4', 'true', '7', 'true', null]);
      expect(await reply.text()).toBe('hello');
    }
  });

  test('a stream of bytes asked for as JSON is 406 with what there is', async () => {
    const { process_id } = await gateway.start(['true']);
    const refused = await problem(`/processes/${process_id}/output?follow=true`, { headers: { accept: 'application/json' } });
    expect(refused).toMatchObject({ status: 406, code: 'not_acceptable', allowed: ['application/octet-stream', 'text/plain'] });
  });

  test('a gap is told in a header where there is no JSON for it', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'seq 1 100000'], { retain_bytes: 5000 });
    await gateway.fetch(`/processes/${process_id}?wait_ms=20000`);
    for (const query of ['', '?follow=true']) {
      const reply = await gateway.fetch(`/processes/${process_id}/output${query}`, { headers: { accept: 'text/plain' } });
      const gap = JSON.parse(reply.headers.get('exec-gap') ?? 'null');
      expect(gap).toMatchObject({ from_seq: 1, reason: 'evicted' });
      const text = await reply.text();
      expect(text.endsWith('99999\n100000\n')).toBe(true);
      expect(gap.bytes + text.length).toBe(588_895);
    }
  });

  test('every reply is safe to show and to keep nowhere', async () => {
    for (const path of ['/processes', '/none', '/healthz', '/metrics']) {
      const { headers } = await gateway.fetch(path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('x-request-id')).toMatch(/^\S{3,}$/);
    }
  });
});

describe('a body that is too large', () => {
  const limit = 100_000;
  const started = { method: 'POST', headers: { 'content-type': 'application/json' } };

  test('is 413 with the limit, by its length or in chunks, and up to the limit it is taken', async () => {
    const body = JSON.stringify({ argv: ['true'], labels: { big: 'x'.repeat(limit) } });
    expect(await problem('/processes', { ...started, body })).toMatchObject({ status: 413, code: 'payload_too_large', limit });
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const stdin = (bytes: number) => ({
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: Buffer.alloc(bytes, 'x'),
    });
    expect(await problem(`/processes/${process_id}/stdin`, stdin(limit + 1))).toMatchObject({ status: 413, limit });
    expect((await gateway.fetch(`/processes/${process_id}/stdin`, stdin(limit))).status).toBe(200);
    const info = await (await gateway.fetch(`/processes/${process_id}`)).json();
    expect(info.stdin.accepted_bytes).toBe(limit);
  });

  test('in chunks is cut off when it passes the limit', async () => {
    const connection = await RawConnection.open(gateway.port);
    const lines = [
      `Host: 127.0.0.1:${gateway.port}`,
      gateway.authorization,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ];
    connection.send(requestText('POST /processes HTTP/1.1', lines));
    const chunk = `${(50_000).toString(16)}\r\n${'x'.repeat(50_000)}\r\n`;
    for (let i = 0; i < 3; i++) connection.send(chunk);
    const reply = await connection.reply();
    expect([reply?.status, JSON.parse(reply?.body ?? '{}').code]).toEqual([413, 'payload_too_large']);
    connection.destroy();
  });
});

describe('a content type that is not taken', () => {
  test('is 415 with those that are', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const post = (type: string) => ({ method: 'POST', headers: { 'content-type': type }, body: '{}' });
    expect(await problem('/processes', post('application/octet-stream'))).toMatchObject({ status: 415, allowed: ['application/json'] });
    expect(await problem('/processes', post('application/json; charset=latin1'))).toMatchObject({ status: 415 });
    expect(await problem(`/processes/${process_id}/stdin`, post('text/plain'))).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
      allowed: ['application/json', 'application/octet-stream'],
    });
  });
});
