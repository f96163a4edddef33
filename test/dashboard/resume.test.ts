import type { Page, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway } from '../../src/client/index.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { GatewayServer } from '../support/gateway-server.js';
import { chromium, type Dashboard, useDashboards } from './dashboard.js';

/** What a browser says of connections that break, and of a gateway that is about to end. */
const BROKEN = /net::ERR_|WebSocket connection|status of 503/;

const LATE = /WebSocket is already in CLOSING or CLOSED state/;

const NUMBERS = ['sh', '-c', 'i=0; while read line; do for n in 1 2 3 4 5 6 7 8 9 10; do i=$((i+1)); echo "number $i"; done; done'];

describe.skipIf(chromium === null)('the dashboard in Chromium (skipped without it: apt-get install chromium): lost connections', () => {
  const dashboards = useDashboards();
  let server: GatewayServer;
  beforeAll(async () => {
    server = await GatewayServer.start({ flags: ['--allow-host', '127.0.0.1'] });
  });
  afterAll(() => server.stop());
  const client = () => new Gateway({ url: server.url, token: server.token as string });

  test('output goes on where a proxy cut it, over and over, with nothing missing or doubled', async () => {
    const { process_id } = await client().start(NUMBERS, { pipe_stdin: true, labels: { cut: 'often' } });
    await using proxy = await CuttingProxy.open(server.url, () => null);
    const dashboard = await dashboards.open(proxy.url, { token: server.token });
    await dashboard.show(process_id);
    for (let round = 1; round <= 4; round++) {
      await client().write(process_id, 'go\n');
      await dashboard.untilOutput(`number ${round * 10}`);
      proxy.breakAll();
    }
    await client().write(process_id, 'go\n', { eof: true });
    await dashboard.page.getByText('Exited with code 0').waitFor();
    await dashboard.untilOutput('number 50');
    const lines = await dashboard.lines();
    expect(lines).toEqual(Array.from({ length: lines.length }, (_, index) => `number ${50 - lines.length + 1 + index}`));
    expect(lines.length).toBeGreaterThan(30);
    dashboard.forgive(BROKEN);
  });

  test.each([
    [
      'a line',
      undefined,
      (page: Page) => page.getByLabel('A line for stdin').fill('typed early'),
      (seen: Dashboard) => seen.untilOutput('typed early'),
    ],
    [
      'keys of a terminal',
      { cols: 80, rows: 24 },
      (page: Page) => page.locator('.xterm').pressSequentially('typed early'),
      (seen: Dashboard) => seen.untilScreen(/typed early\n+typed early/),
    ],
  ])('%s typed before the line to the program is there, and the end of input: they come when it is', async (_, tty, type, seen) => {
    const { process_id } = await client().start(['cat'], tty ? { tty } : { pipe_stdin: true });
    const dashboard = await dashboards.open(server.url, { token: server.token });
    const { page, context } = dashboard;
    const opened: WebSocketRoute[] = [];
    await context.routeWebSocket(/attach/, (line) => opened.push(line));
    await dashboard.show(process_id);
    await expect.poll(() => opened.length, { timeout: 50_000 }).toBe(1);
    await type(page);
    await page.keyboard.press('Enter');
    await (tty ? page.keyboard.press('Control+d') : dashboard.button('Close stdin').click());
    for (const line of opened) line.connectToServer();
    await page.getByText('Exited with code 0').waitFor();
    await seen(dashboard);
    dashboard.forgive(LATE); // what holds the line back sends on what the page sent, after the line has ended too
  });

  test('a server that is started anew behind the page: it is told, and the page goes on by itself', async () => {
    const { process_id } = await client().start(['sh', '-c', 'echo before; exec sleep 1000']);
    const dashboard = await dashboards.open(server.url, { token: server.token });
    await dashboard.rows.getByText('echo before').waitFor();
    await server.stop();
    await dashboard.page.getByText('Connection lost.').waitFor();
    const { port } = new URL(server.url);
    const flags = ['--listen', `127.0.0.1:${port}`];
    server = await GatewayServer.start({ flags, token: server.token });
    await client().start(['sleep', '999']);
    await dashboard.rows.getByText('sleep 999').waitFor();
    await dashboard.page.getByText('Connection lost.').waitFor({ state: 'detached' });
    await dashboard.button('Start a process').click();
    await dashboard.page.getByLabel('Command').fill('echo after');
    await dashboard.button('Start').click();
    await dashboard.untilOutput('after');
    await dashboard.show(process_id);
    await dashboard.page.getByText('No such process').waitFor();
    expect(dashboard.complaints.length).toBeGreaterThan(0);
    dashboard.forgive(BROKEN);
  });
});
