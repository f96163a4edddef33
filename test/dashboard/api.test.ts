import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { readSpec } from '../../web/api/spec.js';
import { useGateway } from '../wire/use-gateway.js';
import { chromium, type Dashboard, useDashboards } from './dashboard.js';
import { findings } from './findings.js';

const root = mkdtempSync(join(tmpdir(), 'dashboard-api-'));
const gateway = useGateway({ flags: ['--fs-root', root] });
const spec = readSpec(JSON.parse(readFileSync(new URL('../../dist/openapi.json', import.meta.url), 'utf8')));
const HTML = `<img src=x onerror="alert('body')">`;

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.skipIf(chromium === null)('the dashboard in Chromium (skipped without it: apt-get install chromium): API reference', () => {
  const dashboards = useDashboards();
  /** Opens a call, by its address. */
  const open = async (id: string, beside?: Dashboard) => {
    const { url, token } = gateway.server;
    const dashboard = beside ?? (await dashboards.open(url, { token }));
    await dashboard.page.goto(`${url}/#/api${id === '' ? '' : `/${id}`}`);
    await dashboard.page.getByRole('navigation', { name: 'Calls' }).waitFor({ state: 'attached' });
    return dashboard;
  };
  const body = (page: Page) => page.getByRole('region', { name: 'Body of the reply' });
  const editor = (page: Page) => page.getByRole('textbox', { name: 'Body' });
  const status = (page: Page) => page.locator('.reply-line').getByRole('status');
  const send = async ({ page }: Dashboard, answer: string) => {
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await status(page).getByText(answer).waitFor();
  };
  /** Runs the curl line of the page, as somebody would who copied it. */
  const curl = async (page: Page) => {
    const line = await page.getByRole('region', { name: 'The same by curl' }).locator('pre').textContent();
    const env = { ...process.env, EXEC_GATEWAY_TOKEN: gateway.server.token as string };
    return (await promisify(execFile)('sh', ['-c', `${line} -sS`], { env })).stdout;
  };

  test('by keyboard alone: search, Enter, read, send', async () => {
    const dashboard = await open('');
    const { page } = dashboard;
    for (const { name, calls } of spec.groups) {
      const links = page.getByRole('region', { name, exact: true }).getByRole('link');
      expect(await links.count()).toBe(calls.length);
    }
    await page.getByLabel('Search calls').focus();
    await page.keyboard.type('long-poll output');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Read output' }).waitFor();
    expect(page.url()).toMatch(/#\/api\/readOutput$/);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Read output');
    await page.keyboard.press('Tab');
    await page.keyboard.type('nobody');
    await page.keyboard.press('Enter');
    await status(page).getByText('404').waitFor();
    await body(page).getByText('process_not_found').waitFor();
    dashboard.forgive(/404/);
  });

  test('each call opens; light, dark and narrow', async () => {
    const dashboard = await open('readOutput');
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Read output' }).waitFor();
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await findings(dashboard)).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 800 });
    await page.evaluate(
      async (calls) => {
        for (const { id, summary } of calls) {
          window.location.hash = `#/api/${id}`;
          while (document.getElementById('call-title')?.textContent !== summary) await new Promise(requestAnimationFrame);
        }
      },
      spec.groups.flatMap(({ calls }) => calls.map(({ id, summary }) => ({ id, summary }))),
    );
    expect(await page.evaluate(() => document.querySelector('.call-view')?.scrollWidth)).toBeLessThanOrEqual(390);
    await page.getByRole('link', { name: 'All calls' }).click();
    await page.getByRole('link', { name: 'About the API' }).click();
    await page.getByRole('cell', { name: 'command_not_found' }).waitFor();
  });

  test('a call with a body is sent over the session, its answer shown, and its curl line does the same', async () => {
    const dashboard = await open('run');
    const { page } = dashboard;
    expect(JSON.parse(await editor(page).inputValue())).toMatchObject({ argv: ['wc', '-l'] });
    await editor(page).fill(JSON.stringify({ argv: ['printf', '%s', `it's "${HTML}" $HOME`] }));
    await send(dashboard, '200');
    const shown = JSON.parse((await body(page).textContent()) as string);
    expect(shown).toMatchObject({ exit_code: 0, stdout: `it's "${HTML}" $HOME` });
    expect(JSON.parse(await curl(page))).toMatchObject({ exit_code: 0, stdout: shown.stdout });
    await page.locator('.reply-view').getByText('Headers').click();
    await page.locator('.reply-view').getByText('x-request-id').waitFor();
    await editor(page).fill('{"argv": [');
    await page.getByText('This is no JSON').waitFor();
    await send(dashboard, '400');
    await body(page).getByText('invalid_json').waitFor();
    dashboard.forgive(/400/);
  });

  test('files: bytes as digits, a page as its text, an upload from the disk', async () => {
    writeFileSync(join(root, 'bytes'), new Uint8Array([0, 1, 2, 255]));
    writeFileSync(join(root, 'page.html'), HTML);
    const dashboard = await open('readFile');
    const { page } = dashboard;
    await page.getByLabel('path', { exact: true }).fill('bytes');
    await send(dashboard, '200');
    await body(page).getByText('00 01 02 ff').waitFor();
    await page.getByLabel('path', { exact: true }).fill('page.html');
    await send(dashboard, '200');
    await body(page).getByText(HTML).waitFor();
    const saved = page.waitForEvent('download');
    await dashboard.button('Save the body').click();
    expect(readFileSync((await (await saved).path()) as string, 'utf8')).toBe(HTML);
    await open('writeFile', dashboard);
    await page.getByLabel('path', { exact: true }).fill('sent');
    await page.getByLabel('File to send').setInputFiles(join(root, 'bytes'));
    await send(dashboard, '201');
    expect([...readFileSync(join(root, 'sent'))]).toEqual([0, 1, 2, 255]);
  });

  test('a stream is shown as it comes, until it is stopped', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const dashboard = await open('followProcess');
    const { page } = dashboard;
    await page.getByLabel('process_id').fill(process_id);
    await send(dashboard, 'Live');
    for (const text of ['one', 'two']) {
      await gateway.send('POST', `/processes/${process_id}/stdin`, { text });
      await body(page).getByText(Buffer.from(text).toString('base64')).waitFor();
    }
    await dashboard.button('Stop').click();
    await status(page).getByText('Stopped').waitFor();
    await expect.poll(() => gateway.server.metric('exec_gateway_http_requests_in_flight'), { timeout: 50_000 }).toBeLessThanOrEqual(2);
  });

  test('a WebSocket takes and gives messages, and a refusal can be asked after', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const dashboard = await open('attachProcess');
    const { page } = dashboard;
    await page.getByLabel('process_id').fill(process_id);
    await page.getByLabel('Sec-WebSocket-Protocol').fill('exec-gateway.v1');
    await dashboard.button('Connect').click();
    await page.getByRole('list', { name: 'Messages' }).getByText('"type":"hello"').waitFor();
    await page.getByLabel('Message to send').fill('{"type":"signal","signal":"TERM"}');
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Messages' }).getByText('"type":"exited"').waitFor();
    await status(page).getByText('Closed with 1000').waitFor();
    expect(await page.getByRole('list', { name: 'Messages' }).locator('.sent').count()).toBe(1);
    await page.getByLabel('process_id').fill('nobody');
    await dashboard.button('Connect').click();
    await dashboard.button('Ask why').click();
    await body(page).getByText('process_not_found').waitFor();
    dashboard.forgive(/404|WebSocket/);
  });

  test('only what deletes is asked about once more', async () => {
    const { process_id } = await gateway.start(['sleep', '1000']);
    const dashboard = await open('terminateProcess');
    const { page } = dashboard;
    await page.getByLabel('process_id').fill(process_id);
    await page.getByLabel('purge').selectOption('true');
    await dashboard.button('Send').click();
    await dashboard.button('Leave it').click();
    expect(await gateway.list()).toMatchObject([{ process_id, state: 'running' }]);
    await dashboard.button('Send').click();
    await dashboard.button('Send it').click();
    await status(page).getByText('200').waitFor();
    expect(await gateway.list()).toEqual([]);
  });

  test('signing in and out by call: a wrong token ends no session, a new session is used at once, the end of it is seen', async () => {
    const dashboard = await open('signIn');
    const { page } = dashboard;
    await send(dashboard, '401');
    dashboard.forgive(/401/);
    await editor(page).fill(JSON.stringify({ token: gateway.server.token }));
    expect(await page.getByRole('region', { name: 'The same by curl' }).textContent()).not.toContain(gateway.server.token);
    await send(dashboard, '200');
    expect(JSON.parse(await curl(page))).toHaveProperty('csrf_token');
    await open('run', dashboard);
    await send(dashboard, '200');
    await open('signOut', dashboard);
    await dashboard.button('Send').click();
    await dashboard.button('Send it').click();
    await page.getByLabel('Token').waitFor();
  });
});
