import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Session } from '../../src/protocol/session.js';
import { findChromium, launchChromium } from '../support/chromium.js';
import { InProcessGateway } from './in-process-gateway.js';

const TOKEN = 'a-token-that-is-long-enough';

const dir = mkdtempSync(join(tmpdir(), 'session-browser-'));
afterAll(() => rmSync(dir, { recursive: true }));

const foreign = createServer((_request, reply) => reply.setHeader('content-type', 'text/html').end('<!doctype html><body></body>'));
beforeAll(() => new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  foreign.closeAllConnections();
  return new Promise((resolve) => foreign.close(resolve));
});

let gateway: InProcessGateway;
beforeAll(async () => {
  writeFileSync(join(dir, 'index.html'), '<!doctype html><title>page</title><body></body>');
  gateway = await InProcessGateway.open({ token: TOKEN, web_dir: dir });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const chromium = findChromium();

describe.skipIf(chromium === null)('a session in Chromium (skipped without it: apt-get install chromium)', () => {
  let browser: Browser;
  let context: BrowserContext;
  /** That of the gateway. */
  let page: Page;
  let session: Session;
  beforeAll(async () => {
    browser = await launchChromium(chromium as string);
    context = await browser.newContext();
    context.setDefaultTimeout(60_000);
    page = await context.newPage();
    await page.goto(`${gateway.url}/`);
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    session = (await call('POST', '/session', { token: TOKEN })).body as Session;
  });

  interface Answer {
    status: number;
    body: unknown;
  }

  /** A call as the page makes it, with the cookie that only the browser knows. */
  const call = (method: string, path: string, body?: unknown, csrf_token?: string): Promise<Answer> =>
    page.evaluate(
      async ({ method, path, body, csrf_token }) => {
        const headers = { 'content-type': 'application/json', ...(csrf_token === undefined ? {} : { 'x-csrf-token': csrf_token }) };
        const sent = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
        const reply = await fetch(`.${path}`, sent);
        const text = await reply.text();
        return { status: reply.status, body: text === '' ? null : JSON.parse(text) };
      },
      { method, path, body, csrf_token },
    );

  async function start(argv: string[]): Promise<string> {
    const { status, body } = await call('POST', '/processes', { argv, pipe_stdin: true }, session.csrf_token);
    expect(status).toBe(201);
    return (body as { process_id: string }).process_id;
  }

  const shown = async (evil: Page): Promise<unknown> => JSON.parse((await evil.locator('body').textContent()) ?? '');

  const count = async () => ((await call('GET', '/processes')).body as { processes: unknown[] }).processes.length;

  test('is a cookie that no script sees and no other site sends', async () => {
    expect(session).toEqual({ csrf_token: expect.any(String), expires_at: expect.any(String) });
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/', domain: '127.0.0.1' });
    expect(await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length])).toEqual(['', 0, 0]);
    expect(cookie?.value).not.toContain(TOKEN);
    await page.reload();
    expect(await call('GET', '/session')).toEqual({ status: 200, body: session });
  });

  test('opens EventSource and WebSocket as they are', async () => {
    const process_id = await start(['cat']);
    const path = `/processes/${process_id}`;
    const echoed = await page.evaluate(
      ({ path }) =>
        new Promise<string>((resolve, reject) => {
          const socket = new WebSocket(`${location.origin.replace('http', 'ws')}${path}/attach`);
          socket.binaryType = 'arraybuffer';
          let text = '';
          socket.onopen = () => socket.send('by socket\n');
          socket.onmessage = ({ data }) => {
            text += new TextDecoder().decode(data);
            if (!text.endsWith('\n')) return;
            socket.close();
            resolve(text);
          };
          socket.onclose = ({ code }) => reject(new Error(`closed with ${code}`));
        }),
      { path },
    );
    expect(echoed).toBe('by socket\n');
    expect((await call('POST', `${path}/stdin?eof=true`, { text: 'by call\n' }, session.csrf_token)).status).toBe(200);
    const events = await page.evaluate(
      ({ path }) =>
        new Promise<string[]>((resolve, reject) => {
          const source = new EventSource(`.${path}/events`);
          const seen: string[] = [];
          for (const name of ['output', 'exited', 'closed']) {
            source.addEventListener(name, ({ type }) => {
              seen.push(type);
              if (type !== 'closed') return;
              source.close();
              resolve(seen);
            });
          }
          source.onerror = () => reject(new Error(`readyState ${source.readyState}`));
        }),
      { path },
    );
    expect(events).toEqual(['output', 'output', 'exited', 'closed']);
  });

  test('changes nothing without the CSRF token', async () => {
    const before = await count();
    for (const csrf_token of [undefined, 'wrong', TOKEN]) {
      const refused = await call('POST', '/run', { argv: ['true'] }, csrf_token);
      expect(refused).toMatchObject({ status: 403, body: { code: 'invalid_csrf_token' } });
    }
    expect(await count()).toBe(before);
  });

  // One of another port is of the same site, and is sent the cookie: 127.0.0.1 beside localhost is another site.
  test.each([
    ['another port', '127.0.0.1', { status: 403, code: 'not_same_origin' }],
    ['another site', 'localhost', { status: 401, code: 'unauthorized' }],
  ])('is of no use to a page of %s', async (_where, host, when_opened) => {
    const process_id = await start(['cat']);
    const before = await count();
    const evil = await context.newPage();
    const home = `http://${host}:${(foreign.address() as AddressInfo).port}/`;
    await evil.goto(home);
    const outcomes = await evil.evaluate(
      async ({ url, process_id, csrf_token }) => {
        const tried = (reply: Promise<Response>) =>
          reply.then(
            ({ type }) => type,
            () => 'refused',
          );
        const opened = (target: EventTarget) =>
          new Promise<string>((resolve) => {
            target.addEventListener('open', () => resolve('opened'));
            target.addEventListener('error', () => resolve('refused'));
          });
        const credentials = 'include';
        const body = JSON.stringify({ argv: ['touch', '/tmp/evil'] });
        const json = { 'content-type': 'application/json' };
        return {
          simple: await tried(fetch(`${url}/run`, { method: 'POST', mode: 'no-cors', credentials, body })),
          json: await tried(fetch(`${url}/run`, { method: 'POST', credentials, body, headers: json })),
          with_token: await tried(
            fetch(`${url}/run`, { method: 'POST', credentials, body, headers: { ...json, 'x-csrf-token': csrf_token } }),
          ),
          sign_out: await tried(fetch(`${url}/session`, { method: 'DELETE', credentials })),
          read: await tried(fetch(`${url}/session`, { credentials })),
          events: await opened(new EventSource(`${url}/processes/${process_id}/events`, { withCredentials: true })),
          socket: await opened(new WebSocket(`${url.replace('http', 'ws')}/processes/${process_id}/attach`)),
        };
      },
      { url: gateway.url, process_id, csrf_token: session.csrf_token },
    );
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['refused']));
    await evil.evaluate((url) => {
      const form = Object.assign(document.createElement('form'), { method: 'post', enctype: 'text/plain', action: `${url}/run` });
      const field = Object.assign(document.createElement('input'), { name: '{"argv":["true"],"x":"', value: '"}' });
      form.append(field);
      document.body.append(form);
      form.submit();
    }, gateway.url);
    await evil.waitForURL(`${gateway.url}/run`);
    expect(await shown(evil)).toMatchObject({ status: 403, code: 'origin_not_allowed' });
    await evil.goto(home);
    await evil.evaluate((url) => void location.assign(url), `${gateway.url}/processes`);
    await evil.waitForURL(`${gateway.url}/processes`);
    expect(await shown(evil)).toMatchObject(when_opened);
    expect([await count(), (await call('GET', '/session')).status]).toEqual([before, 200]);
    await evil.close();
  });

  test('is over when it was signed out', async () => {
    const process_id = await start(['cat']);
    expect((await call('DELETE', '/session', undefined, session.csrf_token)).status).toBe(204);
    expect(await context.cookies()).toEqual([]);
    expect(await call('GET', '/session')).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    const after = await page.evaluate(async (path) => {
      const source = new EventSource(`.${path}/events`);
      const socket = new WebSocket(`${location.origin.replace('http', 'ws')}${path}/attach`);
      await Promise.all([source, socket].map((target) => new Promise((resolve) => target.addEventListener('error', resolve))));
      return source.readyState;
    }, `/processes/${process_id}`);
    expect(after).toBe(2); // it does not try again
  });
});
