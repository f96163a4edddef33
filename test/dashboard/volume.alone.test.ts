import { describe, expect, test } from 'vitest';
import { Gateway } from '../../src/client/index.js';
import { useGateway } from '../wire/use-gateway.js';
import { chromium, useDashboards } from './dashboard.js';

const MANY = 2_000;
const gateway = useGateway({ flags: ['--max-closed', String(MANY + 10)] });

/** 100 MB in lines of 100 bytes, numbered. */
const LINES = 1_000_000;
const PRINT = ['awk', `BEGIN { for (i = 1; i <= ${LINES}; i++) printf "%09d %089d\\n", i, 0 }`];

describe.skipIf(chromium === null)('the dashboard in Chromium (skipped without it: apt-get install chromium): much of everything', () => {
  const dashboards = useDashboards();
  const open = () => dashboards.open(gateway.server.url, { token: gateway.server.token });
  const client = () => new Gateway({ url: gateway.server.url, token: gateway.server.token as string });

  test('2,000 processes are listed, found and followed, with few rows on the page', async () => {
    for (let begun = 0; begun < MANY; begun += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, at) => client().start(['true', `number-${begun + at}`])));
    }
    const dashboard = await open();
    const { page } = dashboard;
    await page.getByRole('button', { name: 'All 2,000' }).waitFor();
    expect(await dashboard.rows.count()).toBeLessThan(60);
    await page.locator('.virtual-list').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await page.getByText('true number-0', { exact: true }).waitFor();
    await page.getByLabel('Search processes').fill('number-1234');
    await page.getByText('true number-1234', { exact: true }).waitFor();
    expect(await dashboard.rows.count()).toBe(1);
    await client().start(['true', 'and-number-1234-too']);
    await page.getByText('true and-number-1234-too').waitFor();
    expect(await dashboard.rows.count()).toBe(2);
  });

  test('100 MB of output: the page stays small and answers, its end is shown, and its beginning on demand', async () => {
    const { process_id } = await client().start(PRINT, { retain_bytes: 128 * 1024 * 1024 });
    const dashboard = await open();
    const { page } = dashboard;
    await dashboard.show(process_id);
    const frames = await page.evaluate(async () => {
      let count = 0;
      while (!document.querySelector('.output-foot')?.textContent?.includes('End of output')) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        count += 1;
      }
      return count;
    });
    expect(frames, 'how often the page was drawn meanwhile').toBeGreaterThan(20);
    await dashboard.untilOutput(`${String(LINES).padStart(9, '0')} ${'0'.repeat(89)}`);
    expect(await page.locator('.output-row').count()).toBeLessThan(150);
    await dashboard.button('Go to the start').click();
    await expect.poll(async () => (await dashboard.lines())[0]?.slice(0, 9), { timeout: 50_000 }).toBe('000000001');
    await page.getByText('go to the end to read on').waitFor();
    expect((await dashboard.lines())[0]?.slice(0, 9)).toBe('000000001');
    await page.getByLabel('Search output').fill('000000100 ');
    await page.keyboard.press('Enter');
    await page.locator('.output-row.current mark').waitFor();
    await dashboard.button('Go to the end').click();
    await dashboard.untilOutput(`${String(LINES).padStart(9, '0')} ${'0'.repeat(89)}`);
  });
});
