import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build, type Rollup } from 'vite';
import { afterAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.js';
import { useGateway } from '../wire/use-gateway.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

const page = createServer();
await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
const ORIGIN = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
afterAll(() => new Promise((resolve) => page.close(resolve)));

const gateway = useGateway({ flags: ['--allow-origin', ORIGIN] });

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

async function clientModule(): Promise<string> {
  const entry = fileURLToPath(new URL('../../src/client/index.ts', import.meta.url));
  const built = await build({ configFile: false, logLevel: 'error', build: { write: false, lib: { entry, formats: ['es'] } } });
  return ((built as Rollup.RollupOutput[])[0] as Rollup.RollupOutput).output[0].code;
}

const chromium = findChromium();

describe.skipIf(chromium === null)('in Chromium (skipped without it: apt-get install chromium)', () => {
  test('examples/browser.html follows a process', async () => {
    const files: Record<string, [type: string, text: string]> = {
      '/browser.html': ['text/html', readFileSync(`${EXAMPLES}browser.html`, 'utf8')],
      '/client.js': ['text/javascript', await clientModule()],
    };
    page.on('request', (request, reply) => {
      const [type, text] = files[request.url as string] ?? ['text/plain', ''];
      reply.writeHead(text ? 200 : 404, { 'content-type': type }).end(text);
    });
    const browser = await launchChromium(chromium as string);
    try {
      const tab = await browser.newPage();
      await tab.goto(`${ORIGIN}/browser.html#${new URLSearchParams({ url: gateway.server.url, token: gateway.server.token as string })}`);
      await tab.waitForFunction(() => document.title === 'ended');
      expect(await tab.textContent('#output')).toBe('tick 1\ntick 2\ntick 3\nexit code 0\n');
    } finally {
      await browser.close();
    }
  });
});
