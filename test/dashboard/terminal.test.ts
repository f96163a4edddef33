import { describe, expect, test } from 'vitest';
import { Gateway } from '../../src/client/index.js';
import { findVim } from '../support/vim.js';
import { useGateway } from '../wire/use-gateway.js';
import { chromium, useDashboards } from './dashboard.js';

const gateway = useGateway();
const vim = findVim();

describe.skipIf(chromium === null)('the dashboard in Chromium (skipped without it: apt-get install chromium): terminals', () => {
  const dashboards = useDashboards();
  const open = () => dashboards.open(gateway.server.url, { token: gateway.server.token });
  const client = () => new Gateway({ url: gateway.server.url, token: gateway.server.token as string });

  test.skipIf(vim === null)('a full-screen program (skipped without vim) is driven, resized, and found again after a reload', async () => {
    const dashboard = await open();
    const { page } = dashboard;
    await dashboard.button('Start a process').click();
    await page.getByLabel('Command').fill('vim -u NONE -i NONE -n');
    await page.getByText('On a terminal').click();
    await dashboard.button('Start').click();
    await dashboard.untilScreen('~'); // the words of its first page are gone when the page has given it another size
    await page.keyboard.type('ihello from the page é日本 ');
    await dashboard.untilScreen('hello from the page é日本');
    await page.keyboard.press('Escape');
    const [{ process_id, tty } = expect.unreachable()] = await gateway.list();
    expect(tty?.cols).toBeGreaterThan(100);
    await page.setViewportSize({ width: 700, height: 700 });
    await expect.poll(async () => (await client().get(process_id)).tty?.cols, { timeout: 50_000 }).toBeLessThan(100);
    await page.keyboard.type(':set ruler showcmd laststatus=2\r');
    await dashboard.untilScreen(/1,\d+/);
    await page.reload();
    await dashboard.untilScreen('hello from the page é日本');
    const shown = await client().screen(process_id);
    await dashboard.untilScreen(shown.text.split('\n').at(-1) as string);
    await page.keyboard.press('Shift+Escape');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Copy');
    await page.locator('.xterm').click();
    await page.keyboard.type(':q!\r');
    await page.getByText('Exited with code 0').waitFor();
  });

  test('colours of the palette and beyond, links and a screen that stays when the program has ended', async () => {
    const text = '\\033[31mred\\033[0m \\033[38;2;1;200;3mgreen\\033[0m \\033[44mon blue\\033[0m see http://localhost/page\\n';
    const { process_id } = await gateway.start(['sh', '-c', `printf '${text}'; exit 5`], { tty: { cols: 90, rows: 20 } });
    const dashboard = await open();
    await dashboard.show(process_id);
    await dashboard.untilScreen('red green on blue see http://localhost/page');
    // In one step of the page: the terminal may draw its rows anew at any time.
    const colour = (word: string) =>
      dashboard.page.evaluate((wanted) => {
        const span = [...document.querySelectorAll('.xterm-rows span')].find(({ textContent }) => textContent?.includes(wanted));
        return span && getComputedStyle(span).color;
      }, word);
    expect(await colour('green')).toBe('rgb(1, 200, 3)');
    expect(await colour('red')).not.toBe(await colour('see'));
    await dashboard.page.getByText('Exited with code 5').waitFor();
  });

  test('a click on a web link opens it, in a page that knows nothing of this one; other addresses are text', async () => {
    const web = '\\033[36mhttp://linked.example/told\\033[0m';
    const [named, script] = ['http://linked.example/named', 'javascript:alert(1)'].map(
      (address, index) => `\\033]8;;${address}\\033\\\\words-${index}\\033]8;;\\033\\\\`,
    );
    const program = `stty -echo; echo ready; read line; printf '${web} ${named} ${script}\\n'; read line`;
    const { process_id } = await gateway.start(['sh', '-c', program], { tty: { cols: 90, rows: 20 } });
    const dashboard = await open();
    const { page, context } = dashboard;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await context.route('http://linked.example/**', (route) => route.fulfill({ contentType: 'text/html', body: '<title>there</title>' }));
    await dashboard.show(process_id);
    await dashboard.untilScreen('ready');
    await page.keyboard.press('Enter'); // a painted screen has no addresses behind words
    await dashboard.untilScreen('http://linked.example/told words-0 words-1');
    await dashboard.button('Copy').click();
    await page.getByText('is on the clipboard').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('ready\nhttp://linked.example/told words-0 words-1\n');
    // The terminal draws its rows anew when it is pointed to.
    const pointTo = (words: string) => page.locator('.xterm-rows span', { hasText: words }).last().hover({ force: true });
    const click = async () => {
      await page.mouse.down();
      await page.mouse.up();
    };
    await pointTo('words-1');
    await click();
    for (const [words, address] of Object.entries({ told: 'http://linked.example/told', 'words-0': 'http://linked.example/named' })) {
      await pointTo(words);
      await page.locator('.xterm-cursor-pointer').waitFor();
      const [opened] = await Promise.all([context.waitForEvent('page'), click()]);
      await opened.waitForURL(address);
      expect(await opened.evaluate(() => [document.title, window.opener, document.referrer])).toEqual(['there', null, '']);
      expect(context.pages()).toHaveLength(2);
      await opened.close();
      await page.bringToFront();
    }
  });
});
