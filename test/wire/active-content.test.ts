import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.js';
import { InProcessGateway } from './in-process-gateway.js';
import { SignedIn } from './signed-in.js';

const TOKEN = 'a-token-that-is-long-enough';

/** Leaves a trace wherever it runs: at the origin of the gateway, and at whoever began a worker. */
const EVIL = `globalThis.localStorage?.setItem('ran', '1'); globalThis.postMessage?.('ran');`;
const XHTML = 'xmlns="http://www.w3.org/1999/xhtml"';
const SVG = 'xmlns="http://www.w3.org/2000/svg" width="7" height="5"';

/** Files that browsers run when they are opened as a page. */
const PAGES: Record<string, string> = {
  'evil.html': `<!doctype html><p id="shown">shown</p><script>${EVIL}</script><img src="x" onerror="${EVIL}">`,
  'evil.xhtml': `<html ${XHTML}><body><p id="shown">shown</p><script>${EVIL}</script></body></html>`,
  'evil.svg': `<svg ${SVG} onload="${EVIL}"><text id="shown">shown</text><script>${EVIL}</script></svg>`,
  'evil.xml': `<?xml version="1.0"?><x ${XHTML}><p id="shown">shown</p><script>${EVIL}</script></x>`,
};

/** A page that does what a page of the gateway could be tricked into: it loads an address as its own code. */
const PROBE = `
  const settled = (element, fields) =>
    new Promise((resolve) => {
      element.onload = () => resolve('loaded');
      element.onerror = () => resolve('refused');
      document.head.append(Object.assign(element, fields));
    });
  const inWorker = (url, type) =>
    new Promise((resolve) => {
      const worker = new Worker(url, { type });
      worker.onmessage = () => resolve('loaded');
      worker.onerror = () => resolve('refused');
    });
  const element = (name) => document.createElement(name);
  window.ways = {
    script: (src) => settled(element('script'), { src }),
    module: (src) => settled(element('script'), { src, type: 'module' }),
    import: (src) => import(src).then(() => 'loaded', () => 'refused'),
    style: (href) => settled(element('link'), { href, rel: 'stylesheet' }),
    worker: (url) => inWorker(url, 'classic'),
    module_worker: (url) => inWorker(url, 'module'),
    service_worker: (url) => navigator.serviceWorker.register(url).then(() => 'loaded', () => 'refused'),
  };
`;

const dir = mkdtempSync(join(tmpdir(), 'active-'));
const file = (name: string) => `/fs/file?path=${encodeURIComponent(join(dir, 'files', name))}`;

let gateway: InProcessGateway;
/** Output that is a script. */
let output: string;
beforeAll(async () => {
  for (const name of ['files', 'web', 'web/assets']) mkdirSync(join(dir, name));
  writeFileSync(join(dir, 'web/index.html'), '<!doctype html><title>page</title><script type="module" src="./assets/probe.js"></script>');
  writeFileSync(join(dir, 'web/assets/probe.js'), PROBE);
  const files = {
    ...PAGES,
    'evil.js': EVIL,
    'evil.mjs': EVIL,
    'evil.css': 'body { --ran: yes }',
    'evil.txt': PAGES['evil.html'] as string,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, 'files', name), text);
  gateway = await InProcessGateway.open({ token: TOKEN, web_dir: join(dir, 'web') });
  const { process } = await gateway.processes.start({ argv: ['cat', join(dir, 'files/evil.js'), join(dir, 'files/evil.html')] });
  await gateway.processes.get(process.process_id, { wait_ms: 60_000 });
  output = `/processes/${process.process_id}`;
});
afterAll(() => gateway[Symbol.asyncDispose]());
afterAll(() => rmSync(dir, { recursive: true }));

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(gateway.url + path, { method, headers: { authorization: `Bearer ${TOKEN}`, ...headers } });

describe('no reply with content of files or processes', () => {
  test.each<[what: string, path: () => string, type: string, headers?: Record<string, string>, method?: string]>([
    ['a file', () => file('evil.js'), 'text/plain; charset=utf-8'],
    ['a part of a file', () => file('evil.js'), 'text/plain; charset=utf-8', { range: 'bytes=0-5' }],
    ['a file that is known', () => file('evil.js'), 'text/plain; charset=utf-8', { 'if-none-match': '*' }],
    ['the head of a file', () => file('evil.mjs'), 'text/plain; charset=utf-8', {}, 'HEAD'],
    ['a style sheet', () => file('evil.css'), 'text/plain; charset=utf-8'],
    ['a page', () => file('evil.html'), 'text/html; charset=utf-8'],
    ['a drawing', () => file('evil.svg'), 'image/svg+xml'],
    ['a file that is not there', () => file('none.js'), 'application/problem+json'],
    ['a tree', () => file('').replace('/file', '/archive'), 'application/x-tar'],
    ['lines of files', () => `${file('').replace('/file', '/search')}&text=ran`, 'application/x-ndjson; charset=utf-8'],
    ['names of files', () => file('').replace('/file', '/directory'), 'application/json; charset=utf-8'],
    ['raw output', () => `${output}/output?follow=true`, 'application/octet-stream'],
    ['output as text', () => `${output}/output`, 'text/plain; charset=utf-8', { accept: 'text/plain' }],
    ['output as JSON', () => `${output}/output?encoding=utf8`, 'application/json; charset=utf-8', { accept: 'text/javascript, */*' }],
    ['events', () => `${output}/events`, 'text/event-stream'],
    ['a process', () => output, 'application/json; charset=utf-8'],
  ])('is active: %s', async (_what, path, type, headers, method) => {
    const reply = await get(path(), headers, method);
    await reply.arrayBuffer();
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': type,
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'; sandbox$/),
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  test('is active: each of several parts of a file', async () => {
    const reply = await get(file('evil.js'), { range: 'bytes=0-1,10-11' });
    const types = [...(await reply.text()).matchAll(/^content-type: (.*?)\r?$/gim)].map((match) => match[1]);
    expect([reply.status, types]).toEqual([206, Array(2).fill('text/plain; charset=utf-8')]);
    expect(reply.headers.get('content-security-policy')).toMatch(/sandbox$/);
  });
});

const chromium = findChromium();

describe.skipIf(chromium === null)('in Chromium that is signed in (skipped without it: apt-get install chromium)', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium(chromium as string);
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const { cookie } = await SignedIn.at(gateway.url, TOKEN);
    const [name = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name, value, url: gateway.url, httpOnly: true, sameSite: 'Strict' }]);
  });
  afterAll(() => browser.close());
  afterEach(() => page.unrouteAll());

  /** Whether anything left its trace since this was asked last, at the origin of the gateway, which the page must be of. */
  const traced = () =>
    page.evaluate(() => {
      const ran = localStorage.getItem('ran') !== null;
      localStorage.clear();
      return ran;
    });

  async function ran(): Promise<boolean> {
    await page.goto(`${gateway.url}/`);
    return traced();
  }

  /** Changes the headers of files on their way to the browser; null takes one away. */
  const withHeaders = (changed: Record<string, string | null>) =>
    page.route('**/fs/file?*', async (route) => {
      const response = await route.fetch();
      const headers = Object.entries({ ...response.headers(), ...changed }).filter((entry): entry is [string, string] => entry[1] !== null);
      await route.fulfill({ response, headers: Object.fromEntries(headers) });
    });

  test('a page among the files is saved when it is opened', async () => {
    await page.goto(`${gateway.url}/`);
    for (const name of Object.keys(PAGES)) {
      const coming = page.waitForEvent('download');
      await page.goto(gateway.url + file(name)).catch(() => {}); // what is saved is no page that was reached
      const download = await coming;
      expect([download.suggestedFilename(), await download.failure(), page.url()]).toEqual([name, null, `${gateway.url}/`]);
    }
    expect(await traced()).toBe(false);
  });

  test('it runs nothing when it is shown all the same', async () => {
    await withHeaders({ 'content-disposition': null });
    for (const name of Object.keys(PAGES)) {
      await page.goto(gateway.url + file(name));
      expect([name, await page.locator('#shown').textContent()]).toEqual([name, 'shown']);
    }
    expect(await ran()).toBe(false);
  });

  test('it would run something without these headers', async () => {
    await withHeaders({ 'content-disposition': null, 'content-security-policy': null });
    for (const name of Object.keys(PAGES)) {
      await page.goto(gateway.url + file(name));
      expect([name, await traced()]).toEqual([name, true]);
    }
  });

  test('text is shown as it is, and output too', async () => {
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(gateway.url + file('evil.txt'));
    expect(await page.locator('body').textContent()).toBe(PAGES['evil.html']);
    await page.goto(`${gateway.url}${output}/output?encoding=utf8`);
    expect(await page.locator('body').textContent()).toContain('<script>');
    expect(complaints.filter((text) => /policy/i.test(text))).toEqual([]); // the browser's own styles among them
    page.removeAllListeners('console');
    expect(await ran()).toBe(false);
  });

  /** What comes of loading addresses in ways of the page. */
  const load = (ways: string[], addresses: string[]) =>
    page.evaluate(
      ({ ways, addresses }) => {
        const known = (window as unknown as { ways: Record<string, (url: string) => Promise<string>> }).ways;
        const loads = addresses.flatMap((path) => ways.map(async (way) => `${way} ${path} ${await known[way]?.(path)}`));
        return Promise.all(loads);
      },
      { ways, addresses },
    );
  const styled = () => page.evaluate(() => getComputedStyle(document.body).getPropertyValue('--ran'));

  test('the page cannot load a file or output as a script, a worker or a style sheet', async () => {
    const ways = ['script', 'module', 'import', 'worker', 'module_worker', 'service_worker', 'style'];
    const addresses = [...['evil.js', 'evil.mjs', 'evil.css'].map(file), `${output}/output?follow=true`, `${output}/events`];
    await page.goto(`${gateway.url}/`);
    const expected = addresses.flatMap((path) => ways.map((way) => `${way} ${path} refused`));
    expect(await load(ways, addresses)).toEqual(expected);
    expect([await traced(), await styled()]).toEqual([false, '']);
  });

  test.each([
    ['script', 'evil.js', 'text/javascript'],
    ['module', 'evil.mjs', 'text/javascript'],
    ['import', 'evil.js', 'text/javascript'],
    ['style', 'evil.css', 'text/css'],
  ])('it could load one as %s if its type were told', async (way, name, type) => {
    await withHeaders({ 'content-type': type });
    await page.goto(`${gateway.url}/`);
    expect(await load([way], [file(name)])).toEqual([`${way} ${file(name)} loaded`]);
    expect((await traced()) || (await styled()) === 'yes').toBe(true);
  });

  test('the page shows a drawing, which runs nothing', async () => {
    await page.goto(`${gateway.url}/`);
    const size = await page.evaluate(async (src) => {
      const image = Object.assign(new Image(), { src });
      document.body.append(image);
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    }, file('evil.svg'));
    expect([size, await traced()]).toEqual([[7, 5], false]);
  });
});
