import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.js';
import { bundleClient } from '../support/client-bundle.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { findVim } from '../support/vim.js';
import { useGateway } from '../wire/use-gateway.js';

const CHROMIUM = findChromium();
const VIM = findVim();
const require = createRequire(import.meta.url);

/** A terminal in the page, as the test sees it. */
interface PageTerminal {
  text(): string;
  focus(): void;
  resize(cols: number, rows: number): void;
  lines(): number;
}

/** What the scripts put into the page. */
interface PageWindow {
  // biome-ignore lint/suspicious/noExplicitAny: the terminal's own types are those of a page.
  [name: string]: any;
  terminals: Record<string, PageTerminal>;
}

let server: Server;
let browser: Browser;
let page: Page;
let origin = '';

beforeAll(async () => {
  server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><body>'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

// A page cannot send a token with its WebSocket: this gateway asks for none.
const gateway = useGateway(() => ({ token: null, flags: ['--no-auth', '--allow-host', '127.0.0.1', '--allow-origin', origin] }));

beforeAll(async () => {
  if (CHROMIUM === null) return;
  browser = await launchChromium(CHROMIUM);
  page = await browser.newPage();
  await page.goto(origin);
  for (const path of [require.resolve('@xterm/xterm/lib/xterm.js'), require.resolve('@xterm/addon-attach/lib/addon-attach.js')]) {
    await page.addScriptTag({ path });
  }
  await page.addScriptTag({ content: (await bundleClient()).code });
});

afterAll(async () => {
  await browser?.close();
  server.closeAllConnections();
  server.close();
});

test.skipIf(CHROMIUM === null)('a token is refused with what a page needs in its place', async () => {
  const error = await page.evaluate(async (url) => {
    const { ExecGateway } = globalThis as unknown as PageWindow;
    const told = await ExecGateway.attach({ url, token: 'secret', process_id: 'any' }).catch((error: unknown) => error);
    return { typed: told instanceof ExecGateway.GatewayError, code: told.code, message: told.message, field: told.fields.field };
  }, gateway.server.url);
  expect(error).toMatchObject({ typed: true, code: 'invalid_argument', field: 'ticket' });
  expect(error.message).toContain('browser');
  expect(error.message).not.toContain('secret');
});

/** Opens a terminal over the attach addon or over `attach`, under a name; one that looks on does not answer what vim asks a terminal. */
function openTerminal(
  name: string,
  address: string,
  process_id: string,
  size: [number, number],
  by: 'addon' | 'client',
  read_only = false,
) {
  return page.evaluate(
    async ({ name, address, process_id, size, by, read_only }) => {
      const global = globalThis as unknown as PageWindow;
      const { document } = global;
      const terminal = new global.Terminal({ cols: size[0], rows: size[1] });
      terminal.open(document.body.appendChild(document.createElement('div')));
      let lines = 0;
      if (by === 'addon') {
        const socket = new WebSocket(`${address.replace('http', 'ws')}/processes/${process_id}/attach?read_only=${read_only}`);
        terminal.loadAddon(new global.AttachAddon.AttachAddon(socket));
      } else {
        const attached = await global.ExecGateway.attach({
          url: address,
          process_id,
          read_only,
          retry: { first_delay_ms: 5, max_delay_ms: 50 },
          on_line: (lost: unknown) => {
            if (lost === null) lines += 1;
          },
        });
        if (!read_only) {
          terminal.onData((text: string) => void attached.write(text));
          terminal.onResize((to: object) => attached.resize(to));
        }
        void (async () => {
          for await (const batch of attached) for (const event of batch) if (event.event === 'output') terminal.write(event.chunk);
        })();
      }
      global.terminals ??= {};
      global.terminals[name] = {
        // The buffer is another one while a program has the whole screen.
        text: () => {
          const { active } = terminal.buffer;
          return Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.viewportY + row)?.translateToString(true)).join(
            '\n',
          );
        },
        focus: () => terminal.focus(),
        resize: (cols, rows) => terminal.resize(cols, rows),
        lines: () => lines,
      };
    },
    { name, address, process_id, size, by, read_only },
  );
}

/** Waits until two screens are the same. */
const same = (one: string, other: string) =>
  page.waitForFunction(
    ([one, other]) => {
      const { terminals } = globalThis as unknown as PageWindow;
      return terminals[one]!.text() === terminals[other]!.text();
    },
    [one, other] as const,
  );

const screen = (name: string) => page.evaluate((name) => (globalThis as unknown as PageWindow).terminals[name]!.text(), name);

/** Waits until the screen shows all of these. */
async function shows(name: string, ...texts: string[]): Promise<void> {
  await page.waitForFunction(
    ([name, texts]) => texts.every((text) => (globalThis as unknown as PageWindow).terminals[name]!.text().includes(text)),
    [name, texts] as const,
  );
}

/** Waits until the last row of the screen shows this. */
async function showsLast(name: string, text: string): Promise<void> {
  await page.waitForFunction(
    ([name, text]) => (globalThis as unknown as PageWindow).terminals[name]!.text().split('\n').at(-1)!.includes(text),
    [name, text] as const,
  );
}

async function type(name: string, text: string): Promise<void> {
  await page.evaluate((name) => (globalThis as unknown as PageWindow).terminals[name]!.focus(), name);
  await page.keyboard.type(text);
}

const vim = () =>
  gateway.start([VIM as string, '-u', 'NONE', '-i', 'NONE', '-N', '-n', '--cmd', 'set ruler'], { tty: { cols: 80, rows: 24 } });

describe.skipIf(CHROMIUM === null || VIM === null)('xterm.js in Chromium, running vim', () => {
  test('over its own attach addon, typed to and left as any terminal', async () => {
    const { process_id } = await vim();
    await openTerminal('addon', gateway.server.url, process_id, [80, 24], 'addon');
    await shows('addon', '~', '0,0-1');
    await type('addon', 'ihello ─ world');
    await shows('addon', 'hello ─ world', 'INSERT');
    await openTerminal('late', gateway.server.url, process_id, [80, 24], 'addon', true);
    await shows('late', 'hello ─ world', 'INSERT');
    await same('late', 'addon');
    expect(await screen('late')).toBe(await screen('addon'));
  });

  test('over attach(): resized, cut, taken up again, and the screen is that of one who was there all the time', async () => {
    await using proxy = await CuttingProxy.open(gateway.server.url, (count) => (count === 0 ? 14_000 : null));
    const { process_id } = await vim();
    await openTerminal('cut', proxy.url, process_id, [80, 24], 'client');
    await openTerminal('steady', gateway.server.url, process_id, [80, 24], 'client', true);
    // Each key shown means that what vim had asked the terminal before is answered, and drawn: nothing of the old size comes later.
    for (const [key, shown] of [
      ['i', 'INSERT'],
      ['x', '1,2'],
      ['y', '1,3'],
    ] as const) {
      await type('cut', key);
      await shows('cut', shown);
      await shows('steady', shown);
    }
    for (const name of ['steady', 'cut'])
      await page.evaluate((name) => (globalThis as unknown as PageWindow).terminals[name]!.resize(100, 30), name);
    for (const name of ['steady', 'cut']) await showsLast(name, 'INSERT');
    expect(proxy.cuts).toBe(0);
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i + 1} of the text, typed while the line breaks`);
    await type('cut', lines.join('\n'));
    for (const name of ['steady', 'cut']) await shows(name, lines.at(-1) as string, 'INSERT', '40,');
    expect(proxy.cuts).toBe(1);
    expect(await page.evaluate(() => (globalThis as unknown as PageWindow).terminals.cut!.lines())).toBe(1);
    expect(await (await gateway.fetch(`/processes/${process_id}`)).json()).toMatchObject({ tty: { cols: 100, rows: 30 } });
    await same('steady', 'cut');
    expect(await screen('steady')).toBe(await screen('cut'));
    for (const line of lines.slice(-20)) expect(await screen('cut')).toContain(line);
  });
});
