import { describe, expect, test } from 'vitest';
import { labelOf, readMetrics } from '../../web/overview/metrics-text.js';
import { pointsOf } from '../../web/overview/series.js';
import { useGateway } from '../wire/use-gateway.js';
import { chromium, useDashboards } from './dashboard.js';
import { findings } from './findings.js';

const gateway = useGateway({ flags: ['--retain-bytes', '2097152'] });

describe.skipIf(chromium === null)('the dashboard in Chromium (skipped without it: apt-get install chromium): overview', () => {
  const dashboards = useDashboards();

  test('its numbers follow what happens, its lines grow, and the gateway is told of', async () => {
    const dashboard = await dashboards.open(gateway.server.url, { token: gateway.server.token });
    const { page } = dashboard;
    await page.getByRole('link', { name: 'Overview' }).click();
    const value = (title: string) => page.getByRole('figure', { name: title }).locator('.chart-value');
    const cell = (what: string) => page.getByRole('row', { name: what }).getByRole('cell');
    await value('Running processes').getByText('0', { exact: true }).waitFor();
    await gateway.start(['sleep', '1000']);
    await gateway.start(['sleep', '1000']);
    await value('Running processes').getByText('2', { exact: true }).waitFor();
    await cell('Processes started').getByText('2', { exact: true }).waitFor();
    await page.getByRole('figure', { name: 'Starts per second' }).locator('.line').waitFor({ state: 'attached' });
    expect(await value('Memory of the gateway').textContent()).toMatch(/^[\d.]+ MiB$/);
    expect(await cell('Version').textContent()).toMatch(/^\d+\.\d+\.\d+/);
    expect(await cell('Output kept for a process').textContent()).toMatch(/^2\.0 MiB, up to /);
    expect(await cell('Processes at a time').textContent()).toBe('1,024');
    expect(await cell('Wait of one call').textContent()).toBe('1 min');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findings(dashboard)).toEqual([]);
    }
  });
});

test('the text of metrics is read: sums over labels, odd labels, values that are none', () => {
  const text = [
    '# HELP a_total Words with a_total 7 in them.',
    'a_total{route="/x y",status="200"} 3',
    'a_total{route="}\\"\\\\",status="404"} 4 1700000000000',
    'b 1.5e3',
    'c Nan',
    'd{} +2',
    'info{version="1.2.3"} 1',
  ].join('\n');
  expect([...readMetrics(text)]).toEqual([
    ['a_total', 7],
    ['b', 1500],
    ['d', 2],
    ['info', 1],
  ]);
  expect(labelOf(text, 'info', 'version')).toBe('1.2.3');
  expect(labelOf(text, 'a_total', 'route')).toBe('/x y');
  expect(labelOf(text, 'none', 'version')).toBeNull();
});

test('a rate is what a counter gained in a second; restarts and pauses are holes', () => {
  const series = { title: '', metric: 'm', kind: 'rate' as const, text: String, least: 1 };
  const moments = [
    [0, 10],
    [2_000, 14],
    [4_000, 1],
    [30_000, 5],
    [32_000, 6],
  ].map(([at = 0, value = 0]) => ({ at, values: new Map([['m', value]]) }));
  expect(pointsOf(series, moments).map(({ value }) => value)).toEqual([2, null, null, 0.5]);
});
