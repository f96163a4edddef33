import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findNginx, Nginx } from '../support/nginx.js';
import { NGINX_GUIDE } from '../support/nginx-guide.js';
import { useGateway } from '../wire/use-gateway.js';
import { chromium, useDashboards } from './dashboard.js';

const gateway = useGateway({ flags: ['--allow-host', '127.0.0.1'] });
const NGINX = findNginx();
const PREFIX = '/gate/';

describe.skipIf(chromium === null || NGINX === null)(
  'the dashboard in Chromium behind nginx (skipped without them), below a prefix',
  () => {
    const dashboards = useDashboards();
    let nginx: Nginx;
    beforeAll(async () => {
      const { directives, below_prefix, above } = NGINX_GUIDE;
      nginx = await Nginx.start(gateway.server.url, [...directives, ...below_prefix], above, PREFIX);
    });
    afterAll(() => nginx?.[Symbol.asyncDispose]());

    /** Opens the dashboard; every address that it asks for is below the prefix. */
    const open = async () => {
      const dashboard = await dashboards.open(nginx.url, { token: gateway.server.token });
      dashboard.page.on('request', (request) => expect(new URL(request.url()).pathname).toMatch(/^\/gate\//));
      return dashboard;
    };

    test('signing in without the slash, a live process with input, and signing out', async () => {
      const dashboard = await dashboards.open(nginx.url, { token: null });
      const { page, context } = dashboard;
      await page.goto('about:blank');
      await page.goto(`${nginx.url}#token=${gateway.server.token}`);
      await page.getByRole('heading', { name: 'Processes' }).waitFor();
      expect(page.url()).toBe(`${nginx.url}/`);
      expect(await context.cookies()).toMatchObject([{ path: PREFIX, httpOnly: true, sameSite: 'Strict' }]);
      await gateway.start(['sh', '-c', 'echo seen; exec sleep 1000']);
      await dashboard.rows.getByText('echo seen').waitFor();
      await dashboard.button('Start a process').click();
      await page.getByLabel('Command').fill('cat');
      await page.getByText('Keep stdin open').click();
      await dashboard.button('Start').click();
      await page.getByLabel('A line for stdin').fill('through the proxy');
      await page.getByLabel('A line for stdin').press('Enter');
      await dashboard.untilOutput('through the proxy');
      await dashboard.button('Close stdin').click();
      await page.getByText('Exited with code 0').waitFor();
      await dashboard.button('Sign out').click();
      await page.getByLabel('Token').waitFor();
      expect(await context.cookies()).toEqual([]);
    });

    test('a terminal is typed to and resized', async () => {
      const { process_id } = await gateway.start(['sh'], { tty: true, env: { PS1: 'ready> ' } });
      const dashboard = await open();
      await dashboard.show(process_id);
      await dashboard.untilScreen('ready>');
      await dashboard.page.keyboard.type('stty size; exit\r');
      await dashboard.untilScreen(/\d+ 1\d\d/);
      await dashboard.page.getByText('Exited with code 0').waitFor();
    });

    test('files, the overview and calls of the API reference', async () => {
      const dashboard = await open();
      const { page } = dashboard;
      await page.goto(`${nginx.url}/#/files/etc`);
      const href = await page.getByRole('link', { name: 'Download' }).first().getAttribute('href');
      expect(href?.startsWith(`${nginx.url}/fs/`)).toBe(true);
      await page.goto(`${nginx.url}/#/overview`);
      await page.getByRole('figure', { name: 'Running processes' }).waitFor();
      await page.goto(`${nginx.url}/#/api/watchProcesses`);
      await dashboard.button('Send').click();
      await page.getByRole('region', { name: 'Body of the reply' }).getByText('event: snapshot').waitFor();
      expect(await page.getByRole('region', { name: 'The same by curl' }).textContent()).toContain(`'${nginx.url}/events'`);
      await dashboard.button('Stop').click();
    });
  },
);
