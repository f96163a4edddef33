import { describe, expect, test } from 'vitest';
import { useGateway } from '../wire/use-gateway.js';
import { chromium, useDashboards } from './dashboard.js';

const gateway = useGateway();
const free = useGateway({ token: null, flags: ['--no-auth'] });

describe.skipIf(chromium === null)('the dashboard in Chromium (skipped without it: apt-get install chromium): sign-in', () => {
  const dashboards = useDashboards();
  const open = (token: string | null = gateway.server.token) => dashboards.open(gateway.server.url, { token });

  test('by the form, with a wrong token told; it outlives a reload, and signing out ends it in all tabs', async () => {
    const first = await open(null);
    const { page } = first;
    await page.getByLabel('Token').fill('not the token at all');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('not the one of the gateway').waitFor();
    first.forgive(/401/);
    await page.getByLabel('Token').fill(gateway.server.token as string);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Processes' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Processes' }).waitFor();
    const second = await dashboards.open(gateway.server.url, { token: null, beside: first });
    await second.page.getByRole('heading', { name: 'Processes' }).waitFor();
    await second.button('Sign out').click();
    await second.page.getByLabel('Token').waitFor();
    await page.getByText('signed out in another tab').waitFor();
    const cookies = await first.context.cookies();
    expect(cookies).toEqual([]);
  });

  test('again in a second tab: the first goes on, in the new session', async () => {
    const first = await open();
    const second = await dashboards.open(gateway.server.url, { token: gateway.server.token, beside: first });
    for (const [tab, dashboard] of [first, second].entries()) {
      await dashboard.button('Start a process').click();
      await dashboard.page.getByLabel('Command').fill(`echo from ${tab}`);
      await dashboard.button('Start').click();
      await dashboard.untilOutput(`from ${tab}`);
    }
    first.forgive(/403/);
    expect(first.complaints).toEqual([]);
  });

  test('by the address, which loses the token at once, the history too', async () => {
    const { page, context } = await open();
    expect(page.url()).toBe(`${gateway.server.url}/`);
    await page.goto('about:blank');
    await page.goBack();
    expect(page.url()).toBe(`${gateway.server.url}/`);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect(JSON.stringify(cookie)).not.toContain(gateway.server.token);
    expect(gateway.server.output.stderr).not.toContain(gateway.server.token);
  });

  test('a session that has ended is told in plain words', async () => {
    const dashboard = await open();
    await dashboard.context.clearCookies();
    await dashboard.button('Start a process').click();
    await dashboard.page.getByLabel('Command').fill('true');
    await dashboard.button('Start').click();
    await dashboard.page.getByText('Your session has ended').waitFor();
    expect(await dashboard.page.getByLabel('Token').inputValue()).toBe('');
    dashboard.forgive(/401/);
  });

  test('a gateway that asks for no token has neither sign-in nor sign-out, and its calls go through', async () => {
    const dashboard = await dashboards.open(free.server.url, { token: null });
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Processes' }).waitFor();
    expect(await dashboard.button('Sign out').count()).toBe(0);
    await dashboard.button('Start a process').click();
    await page.getByLabel('Command').fill('echo let in');
    await dashboard.button('Start').click();
    await dashboard.untilOutput('let in');
    await page.goto('about:blank');
    await page.goto(`${free.server.url}/#token=of-another-time`);
    await dashboard.rows.getByText('echo let in').waitFor();
    expect(page.url()).toBe(`${free.server.url}/`);
    expect(await dashboard.context.cookies()).toEqual([]);
  });
});
