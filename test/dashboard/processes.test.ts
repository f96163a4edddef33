import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Gateway } from '../../src/client/index.js';
import { useGateway } from '../wire/use-gateway.js';
import { chromium, useDashboards } from './dashboard.js';
import { findings } from './findings.js';

const gateway = useGateway();
const HTML = `<img src=x onerror="alert('html')"><script>alert('script')</script>`;

describe.skipIf(chromium === null)('the dashboard in Chromium (skipped without it: apt-get install chromium): processes', () => {
  const dashboards = useDashboards();
  const open = (more = {}) => dashboards.open(gateway.server.url, { token: gateway.server.token, ...more });
  const client = () => new Gateway({ url: gateway.server.url, token: gateway.server.token as string });

  test('one is started, followed, fed and ended', async () => {
    const dashboard = await open();
    const { page } = dashboard;
    await dashboard.button('Start a process').click();
    await page.getByLabel('Command').fill(`sh -c 'echo "hello  world"; echo oops >&2; cat'`);
    expect(await page.locator('.argv code').allTextContents()).toEqual(['sh', '-c', 'echo "hello  world"; echo oops >&2; cat']);
    await page.getByText('Keep stdin open').click();
    await page.getByText('Directory, environment').click();
    await page.getByLabel('Working directory').fill('/');
    await page.getByLabel('Environment').fill('GREETING=hi there');
    await page.getByLabel('Labels').fill('team=web\nkind=test');
    await page.getByLabel('Time limit').fill('5 min');
    await dashboard.button('Start').click();
    await page.locator('.output-row').getByText('hello  world').waitFor();
    await expect.poll(() => page.locator('.output-row.stderr').textContent(), { timeout: 50_000 }).toContain('oops');
    const [process] = await gateway.list();
    expect(process).toMatchObject({ cwd: '/', labels: { team: 'web', kind: 'test' }, state: 'running' });
    await page.getByLabel('A line for stdin').fill('first line');
    await page.getByLabel('A line for stdin').press('Enter');
    await dashboard.untilOutput('first line');
    await page.getByLabel('A line for stdin').fill('second');
    await dashboard.button('Send').click();
    await dashboard.untilOutput('first line', 'second');
    await dashboard.button('End').click();
    await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
    await page.getByText('Ended on request, by SIGTERM (code 143)').waitFor();
    await dashboard.button('Run again').click();
    await expect.poll(() => page.getByLabel('Environment').inputValue()).toBe('GREETING=hi there');
    await dashboard.button('Start').click();
    await expect.poll(async () => (await gateway.list()).length, { timeout: 50_000 }).toBe(2);
    await dashboard.button('Close stdin').click();
    await page.getByText('Exited with code 0').waitFor();
  });

  test('what is refused is told where it was asked for', async () => {
    const dashboard = await open();
    await dashboard.button('Start a process').click();
    await dashboard.page.getByLabel('Command').fill('no-such-program-here');
    await dashboard.page.keyboard.press('Enter');
    const alert = dashboard.page.getByRole('dialog').getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('no-such-program-here');
    dashboard.forgive(/422/);
  });

  test('signals go where they are sent', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'trap "echo got it; exit 7" USR1; echo ready; while :; do sleep 0.1; done']);
    const dashboard = await open();
    await dashboard.show(process_id);
    await dashboard.untilOutput('ready');
    await dashboard.button('Signal').click();
    await dashboard.page.getByRole('combobox', { name: /^Signal/ }).selectOption('SIGUSR1');
    await dashboard.page.getByRole('combobox', { name: /^To/ }).selectOption('leader');
    await dashboard.button('Send SIGUSR1').click();
    await dashboard.page.getByText('Exited with code 7').waitFor();
    await dashboard.untilOutput('ready', 'got it');
    expect(await client().get(process_id)).toMatchObject({ exit_code: 7, reason: 'exited' });
  });

  test('the table follows by itself, in two tabs, and is filtered, searched and sorted', async () => {
    const first = await open();
    const second = await dashboards.open(gateway.server.url, { token: null, beside: first });
    await client().run(['sh', '-c', 'exit 3'], { labels: { name: 'failing' } });
    await client().run(['echo', 'some output'], { labels: { name: 'printing' } });
    const { process_id } = await gateway.start(['sleep', '1000']);
    for (const { page, rows } of [first, second]) {
      await page.getByText('sleep 1000').waitFor();
      expect(await rows.count()).toBe(3);
    }
    const commands = () => first.rows.locator('a').allTextContents();
    await first.button(/^Failed/).click();
    expect(await commands()).toEqual(["sh -c 'exit 3'"]);
    await first.button(/^All/).click();
    await first.page.getByLabel('Search processes').fill('NAME=print');
    expect(await commands()).toEqual(["echo 'some output'"]);
    await first.page.getByLabel('Search processes').fill('');
    await first.button(/^Command/).click();
    expect(await commands()).toEqual(["echo 'some output'", "sh -c 'exit 3'", 'sleep 1000']);
    await first.button(/^Command/).click();
    expect(await commands()).toEqual(['sleep 1000', "sh -c 'exit 3'", "echo 'some output'"]);
    await second.button('End: sleep 1000').click();
    await second.button('Kill at once').click();
    await first.rows.getByText('SIGKILL').waitFor();
    expect((await client().get(process_id)).reason).toBe('terminated');
  });

  test('what runs shows its processor time and memory where there is room, and is asked for them only while it is in sight', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'while :; do seq 20000 >/dev/null; sleep 0.1; done']);
    const dashboard = await open();
    const { page, rows } = dashboard;
    await rows.locator('.cell.cpu', { hasText: /^[1-9]\d* %$/ }).waitFor();
    await rows.locator('.cell.memory', { hasText: /^[\d.]+ [KM]iB$/ }).waitFor();
    const nextLook = async () => new URL((await page.waitForRequest(/state=running/)).url()).searchParams.get('usage');
    await dashboard.button(/^Failed/).click();
    await rows.first().waitFor({ state: 'detached' });
    expect(await nextLook()).toBeNull();
    await dashboard.show(process_id);
    await page.locator('.fact-memory dd', { hasText: /iB$/ }).waitFor();
    expect(await nextLook()).toBe('true');
    await page.setViewportSize({ width: 1000, height: 800 });
    await page.getByRole('link', { name: 'All processes' }).click();
    await dashboard.button(/^All/).click();
    await rows.first().waitFor();
    expect(await rows.locator('.cell.cpu').count()).toBe(0);
    expect(await nextLook()).toBeNull();
  });

  test('output is copied as it is read, and downloaded byte by byte', async () => {
    const { process_id } = await gateway.start(['printf', 'one\\n\\033[32mtwo é\\033[0m\\n\\377\\000end']);
    const dashboard = await open();
    const { page, context } = dashboard;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await dashboard.show(process_id);
    await page.getByText('End of output').waitFor();
    await dashboard.button('Copy all').click();
    await page.getByText('is on the clipboard').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^one\ntwo é\n.*end$/);
    const [download] = await Promise.all([page.waitForEvent('download'), dashboard.button('Download').click()]);
    expect(download.suggestedFilename()).toBe(`${process_id}.log`);
    expect(readFileSync(await download.path(), 'latin1')).toBe('one\n\x1b[32mtwo \xc3\xa9\x1b[0m\n\xff\0end');
  });

  test('whoever leaves the end by a little is not drawn back by what comes', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'seq 1 500; read line; seq 501 600; read line'], { pipe_stdin: true });
    const dashboard = await open();
    const { page } = dashboard;
    await dashboard.show(process_id);
    await dashboard.untilOutput('500');
    await page.locator('.output-pane').hover();
    const top = () => page.locator('.output-pane').evaluate((pane) => pane.scrollTop);
    const end = await top();
    await page.mouse.wheel(0, -7);
    await expect.poll(top, { timeout: 50_000 }).toBe(end - 7);
    await page.getByLabel('A line for stdin').fill('go on');
    await page.getByLabel('A line for stdin').press('Enter');
    await page.getByText('600 lines').waitFor();
    expect(await top()).toBe(end - 7);
    await page.locator('.output-pane').press('End');
    await dashboard.untilOutput('600');
  });

  test('HTML in arguments, labels and output is text', async () => {
    const { process_id } = await gateway.start(['printf', '%s\n', HTML, `\x1b[31m${HTML}\x1b]8;;javascript:alert(1)\x07x\x1b]8;;\x07`], {
      labels: { '<b>key</b>': HTML },
    });
    const dashboard = await open();
    await dashboard.rows.getByText('<img src=x').first().waitFor();
    await dashboard.show(process_id);
    await dashboard.untilOutput(HTML, `${HTML}x`);
    expect(await dashboard.page.locator('img, main script, .output-pane a').count()).toBe(0);
  });

  test('by keyboard alone: from the table to a process, through its output, and back', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'seq 1 500; exec sleep 1000']);
    const dashboard = await open();
    const { page } = dashboard;
    const tabTo = async (selector: string) => {
      for (let presses = 0; presses < 60; presses++) {
        if (await page.evaluate((selector) => document.activeElement?.matches(selector) ?? false, selector)) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`Tab never came to ${selector}.`);
    };
    await dashboard.rows.first().waitFor();
    await tabTo('.cell.command a');
    await page.keyboard.press('Enter');
    await dashboard.untilOutput('500');
    expect(page.url()).toContain(process_id);
    await tabTo('.output-pane');
    await page.keyboard.press('Home');
    const inFocus = () => page.evaluate(() => document.activeElement?.className);
    const place = async () => [await inFocus(), (await dashboard.lines())[0]];
    await expect.poll(place, { timeout: 50_000 }).toEqual(['output-pane mono', '1']);
    await page.keyboard.press('End');
    await dashboard.untilOutput('500');
    await page.keyboard.press('Shift+Tab');
    await tabTo('.process-head button.danger');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('End');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo('dialog button.danger');
    await page.keyboard.press('Enter');
    await page.getByText('Ended on request').waitFor();
  });

  test.each(['light', 'dark'] as const)('axe-core finds nothing serious, %s', async (colorScheme) => {
    const { process_id } = await gateway.start(['sh', '-c', 'printf "\\033[32mgreen\\033[0m\\n"; echo err >&2; cat'], {
      pipe_stdin: true,
      labels: { a: 'b' },
    });
    await client().run(['false']);
    const dashboard = await open();
    await dashboard.page.emulateMedia({ colorScheme });
    await dashboard.rows.nth(1).waitFor();
    expect(await findings(dashboard)).toEqual([]);
    await dashboard.button('Start a process').click();
    await dashboard.page.getByLabel('Command').fill('ls | wc');
    await dashboard.page.getByText('Directory, environment').click();
    expect(await findings(dashboard)).toEqual([]);
    await dashboard.page.keyboard.press('Escape');
    await dashboard.show(process_id);
    await dashboard.page.locator('.output-row').getByText('green').waitFor();
    await dashboard.page.getByLabel('Search output').fill('e');
    expect(await findings(dashboard)).toEqual([]);
    await dashboard.button('Sign out').click();
    await dashboard.page.getByLabel('Token').waitFor();
    expect(await findings(dashboard)).toEqual([]);
  });
});
