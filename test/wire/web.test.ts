import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Problem } from '../../src/protocol/error.js';
import { mustBeDescribed } from '../support/described.js';
import { InProcessGateway } from './in-process-gateway.js';
import { exchange, requestText } from './raw-connection.js';

const PAGE = '<!doctype html><script type="module" src="./assets/app-1a2b.js"></script>';
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(5_000))});`;
const TOKEN = 'a-token-that-is-long-enough';

/** What a browser accepts of a page. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const dir = mkdtempSync(join(tmpdir(), 'web-'));
afterAll(() => rmSync(dir, { recursive: true }));

let gateway: InProcessGateway;
beforeAll(async () => {
  mkdirSync(join(dir, 'assets', 'below'), { recursive: true });
  writeFileSync(join(dir, 'index.html'), PAGE);
  writeFileSync(join(dir, 'secret.txt'), 'secret');
  writeFileSync(join(dir, 'assets', 'app-1a2b.js'), SCRIPT);
  writeFileSync(join(dir, 'assets', 'app-1a2b.css'), 'a{}');
  writeFileSync(join(dir, 'assets', 'font-1a2b.woff2'), Buffer.from([0, 1, 2, 3]));
  writeFileSync(join(dir, 'assets', 'logo-1a2b.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(dir, 'assets', 'gone-1a2b.js'), '');
  writeFileSync(join(dir, 'assets', 'below', 'x.js'), '');
  symlinkSync('/etc/hostname', join(dir, 'assets', 'link.txt'));
  gateway = await InProcessGateway.open({ token: TOKEN, web_dir: dir });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) => fetch(gateway.url + path, { headers });

async function refusal(path: string, headers: Record<string, string> = {}): Promise<[number, string]> {
  const reply = await get(path, headers);
  const { code } = (await reply.json()) as Problem;
  mustBeDescribed('GET', path, reply.status, code);
  return [reply.status, code];
}

describe('GET /', () => {
  test('is the page for a browser that is not signed in, and it may do what a dashboard has to and no more', async () => {
    const reply = await get('/', BROWSER);
    expect([reply.status, await reply.text()]).toEqual([200, PAGE]);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      vary: expect.stringMatching(/Accept, Accept-Encoding$/),
    });
    expect(reply.headers.get('set-cookie')).toBeNull();
  });

  test('is not sent again when it has not changed', async () => {
    const etag = (await get('/', BROWSER)).headers.get('etag') as string;
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const reply = await get('/', { ...BROWSER, 'if-none-match': known });
      expect([known, reply.status, await reply.text(), reply.headers.get('etag')]).toEqual([known, 304, '', etag]);
    }
    expect((await get('/', { ...BROWSER, 'if-none-match': '"x"' })).status).toBe(200);
    expect(await refusal('/', { ...BROWSER, 'if-none-match': 'x' })).toEqual([400, 'invalid_request']);
  });

  test('answers programs as any address that is not there', async () => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }] as Record<string, string>[]) {
      expect(await refusal('/', headers)).toEqual([401, 'unauthorized']);
      expect(await refusal('/', { ...headers, authorization: `Bearer ${TOKEN}` })).toEqual([404, 'not_found']);
    }
  });

  test('takes no query, so that no token ends in an address', async () => {
    expect(await refusal(`/?token=${TOKEN}`, BROWSER)).toEqual([400, 'invalid_request']);
  });

  test('knows no other method, and obeys Host and Origin as every call', async () => {
    const posted = await fetch(`${gateway.url}/`, { method: 'POST', headers: { ...BROWSER, authorization: `Bearer ${TOKEN}` } });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
    expect(await refusal('/', { ...BROWSER, origin: 'https://evil.example' })).toEqual([403, 'origin_not_allowed']);
    const rebound = await exchange(gateway.port, requestText('GET / HTTP/1.1', ['Host: evil.example', 'Accept: text/html']));
    expect(rebound?.status).toBe(421);
  });
});

describe('GET /assets/{file}', () => {
  test.each([
    ['app-1a2b.js', 'text/javascript; charset=utf-8'],
    ['app-1a2b.css', 'text/css; charset=utf-8'],
    ['font-1a2b.woff2', 'font/woff2'],
    ['logo-1a2b.svg', 'image/svg+xml'],
  ])('gives %s as %s to whoever asks, to be kept', async (name, type) => {
    const reply = await get(`/assets/${name}`, { 'accept-encoding': 'identity' });
    const bytes = Buffer.from(await reply.arrayBuffer());
    expect([reply.status, reply.headers.get('content-type'), reply.headers.get('content-length')]).toEqual([
      200,
      type,
      String(bytes.length),
    ]);
    expect(bytes.equals(readFileSync(join(dir, 'assets', name)))).toBe(true);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("connect-src 'self'"), // that of a worker
    });
    const again = await get(`/assets/${name}`, { 'accept-encoding': 'identity', 'if-none-match': reply.headers.get('etag') as string });
    expect([again.status, again.headers.get('cache-control')]).toEqual([304, reply.headers.get('cache-control')]);
  });

  test('packs what gets smaller, for who takes it, under an ETag of its own', async () => {
    const raw = async (name: string, accept: string) => {
      const { stdout: text } = await promisify(execFile)(
        'curl',
        ['-sS', '-i', '-H', `Accept-Encoding: ${accept}`, `${gateway.url}/assets/${name}`],
        { encoding: 'buffer' },
      );
      const end = text.indexOf('\r\n\r\n');
      return { head: text.subarray(0, end).toString(), body: text.subarray(end + 4) };
    };
    const etags = new Set<string | undefined>();
    for (const accept of ['gzip', 'br, gzip;q=0.5', 'GZIP']) {
      const { head, body } = await raw('app-1a2b.js', accept);
      expect(head).toMatch(/^content-encoding: gzip\r?$/m);
      expect(gunzipSync(body).toString()).toBe(SCRIPT);
      etags.add(/^etag: (.*?)\r?$/m.exec(head)?.[1]);
    }
    for (const accept of ['', 'identity', 'br', 'gzip;q=0', 'gzip;q=0.000, br']) {
      const { head, body } = await raw('app-1a2b.js', accept);
      expect([accept, head.includes('content-encoding'), body.toString()]).toEqual([accept, false, SCRIPT]);
      etags.add(/^etag: (.*?)\r?$/m.exec(head)?.[1]);
    }
    expect([etags.size, etags.has(undefined)]).toEqual([2, false]);
    expect((await raw('font-1a2b.woff2', 'gzip')).head).not.toContain('content-encoding');
  });

  test('is 404 for what is not one of the files, however it is written', async () => {
    for (const path of [
      '/assets/none.js',
      '/assets/',
      '/assets',
      '/assets/index.html',
      '/assets/link.txt',
      '/assets/below',
      '/assets/below/x.js',
      '/assets/below%2fx.js',
      '/assets/..%2findex.html',
      '/assets/..%2fsecret.txt',
      '/assets/%2e%2e%2fsecret.txt',
      '/assets/..%5csecret.txt',
      '/assets/%2fetc%2fpasswd',
      '/assets/app-1a2b.js%00',
      '/assets/app-1a2b.js.map',
      '/assets/__proto__',
      '/assets/constructor',
      '/index.html',
      '/secret.txt',
    ]) {
      const lines = [`Host: 127.0.0.1:${gateway.port}`, 'Accept: text/html', `Authorization: Bearer ${TOKEN}`];
      const reply = await exchange(gateway.port, requestText(`GET ${path} HTTP/1.1`, lines));
      expect([path, reply?.status, JSON.parse(reply?.body ?? '').code]).toEqual([path, 404, 'not_found']);
    }
    for (const path of ['/assets/../secret.txt', '/assets/../../secret.txt', '//secret.txt', '/./secret.txt']) {
      const lines = [`Host: 127.0.0.1:${gateway.port}`, 'Accept: text/html'];
      expect([path, (await exchange(gateway.port, requestText(`GET ${path} HTTP/1.1`, lines)))?.status]).toEqual([path, 401]);
    }
  });

  test('serves nothing that was not there at the start, and what is gone since is 404', async () => {
    writeFileSync(join(dir, 'assets', 'new-1a2b.js'), 'new');
    rmSync(join(dir, 'assets', 'gone-1a2b.js'));
    for (const name of ['new', 'gone']) expect(await refusal(`/assets/${name}-1a2b.js`)).toEqual([404, 'not_found']);
    writeFileSync(join(dir, 'assets', 'gone-1a2b.js'), 'back');
    expect(await (await get('/assets/gone-1a2b.js')).text()).toBe('back');
  });
});

describe.each([
  ['not built', () => join(dir, 'none')],
  ['turned off', () => null],
])('where the dashboard was %s', (_how, web_dir) => {
  test('there is nothing at its addresses', async () => {
    await using without = await InProcessGateway.open({ token: TOKEN, web_dir: web_dir() });
    for (const path of ['/', '/assets/app-1a2b.js']) {
      const anyone = await fetch(without.url + path, { headers: BROWSER });
      expect([path, anyone.status]).toEqual([path, 401]);
      const known = await fetch(without.url + path, { headers: { ...BROWSER, authorization: `Bearer ${TOKEN}` } });
      expect([path, known.status, ((await known.json()) as Problem).code]).toEqual([path, 404, 'not_found']);
    }
  });
});
