import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TtySize } from '../../src/protocol/start.js';
import { findChromium, launchChromium } from '../support/chromium.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { until } from '../support/proc.js';
import { useGateway } from '../wire/use-gateway.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EXAMPLES = join(ROOT, 'examples');

const page = createServer();
await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
const ORIGIN = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
afterAll(() => new Promise((resolve) => page.close(resolve)));

const gateway = useGateway({ flags: ['--allow-origin', ORIGIN, '--allow-host', '127.0.0.1'] });

interface Ended {
  code: number;
  stdout: string;
}

function example(argv: string[]): Promise<Ended> {
  const { url, token } = gateway.server;
  const env = { ...process.env, EXEC_GATEWAY_URL: url, EXEC_GATEWAY_TOKEN: token as string };
  return new Promise((resolve) => {
    execFile(argv[0] as string, argv.slice(1), { env, cwd: EXAMPLES }, (error, stdout) =>
      resolve({ code: error ? Number(error.code) : 0, stdout }),
    );
  });
}

test('examples/run.mjs ends as the command ended', async () => {
  expect(await example([process.execPath, 'run.mjs', 'sh', '-c', 'echo hello; exit 3'])).toEqual({ code: 3, stdout: 'hello\n' });
});

test('examples/follow.mjs shows a process live', async () => {
  expect(await example([process.execPath, 'follow.mjs'])).toEqual({ code: 0, stdout: 'tick 1\ntick 2\ntick 3\n' });
});

test('examples/agent.sh loses nothing between two calls', async () => {
  expect(await example(['sh', 'agent.sh'])).toEqual({ code: 0, stdout: 'step 1\nstep 2\nstep 3\nexit code 4\n' });
});

const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', mjs: 'text/javascript', css: 'text/css' };

/** The folder as any server of files gives it. */
function serveFolder(): void {
  page.on('request', ({ url }, reply) => {
    const { pathname } = new URL(url as string, ORIGIN);
    try {
      const bytes = readFileSync(join(ROOT, pathname));
      reply.writeHead(200, { 'content-type': TYPES[pathname.split('.').at(-1) as string] }).end(bytes);
    } catch {
      reply.writeHead(404).end();
    }
  });
}

const chromium = findChromium();

describe.skipIf(chromium === null)('in Chromium (skipped without it: apt-get install chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    serveFolder();
    browser = await launchChromium(chromium as string);
  });
  afterAll(() => browser.close());

  const address = (name: string, url = gateway.server.url) =>
    `${ORIGIN}/examples/${name}#${new URLSearchParams({ url, token: gateway.server.token as string })}`;

  test('examples/browser.html follows a process, served as it says', async () => {
    const tab = await browser.newPage();
    await tab.goto(address('browser.html'));
    await tab.waitForFunction(() => document.title === 'ended');
    expect(await tab.textContent('#output')).toBe('tick 1\ntick 2\ntick 3\nexit code 0\n');
  });

  test('examples/terminal.html is a terminal: typed to, resized with its window, reloaded, taken up when the line breaks', async () => {
    await using proxy = await CuttingProxy.open(gateway.server.url, () => null);
    const tab = await browser.newPage({ viewport: { width: 800, height: 400 } });
    const faults: string[] = [];
    tab.on('pageerror', (error) => faults.push(error.message));
    await tab.goto(address('terminal.html', proxy.url));
    const shows = (text: string) =>
      tab.waitForFunction((text) => document.querySelector('.xterm-rows')?.textContent?.includes(text) ?? false, text);
    const size = async () => (await gateway.list())[0]?.tty;
    const type = async (text: string) => {
      await tab.waitForSelector('.xterm.focus');
      await tab.keyboard.type(text);
    };
    await type('echo $((6 * 7))-shown\n');
    await shows('42-shown');
    const before = (await size()) as TtySize;
    await tab.setViewportSize({ width: 1000, height: 600 });
    await until('the terminal grew with the page', async () => ((await size()) as TtySize).cols > before.cols);
    proxy.breakAll();
    await type('echo $((7 * 7))-again\n');
    await shows('49-again');
    await tab.reload();
    await shows('42-shown');
    await type('exit 3\n');
    await tab.waitForFunction(() => document.title === 'ended');
    expect(await tab.textContent('#line')).toBe('ended: exit code 3');
    expect([(await gateway.list()).length, faults]).toEqual([1, []]);
  });
});
