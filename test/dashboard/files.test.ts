import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { filePath, placeHref, placeOf } from '../../web/files/place.js';
import { useGateway } from '../wire/use-gateway.js';
import { chromium, useDashboards } from './dashboard.js';
import { findings } from './findings.js';

const root = mkdtempSync(join(tmpdir(), 'dashboard-files-'));
const gateway = useGateway({ flags: ['--fs-root', root] });
const HTML = `<img src=x onerror="alert('name')">.html`;
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
const PATIENCE = { timeout: 50_000 };

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.skipIf(chromium === null)('the dashboard in Chromium (skipped without it: apt-get install chromium): files', () => {
  const dashboards = useDashboards();
  /** A directory of its own, opened. */
  const open = async (directory: string, files: Record<string, string | Buffer> = {}) => {
    mkdirSync(join(root, directory));
    for (const [name, content] of Object.entries(files)) writeFileSync(join(root, directory, name), content);
    const dashboard = await dashboards.open(gateway.server.url, { token: gateway.server.token });
    const { page } = dashboard;
    await page.getByRole('link', { name: 'Files' }).click();
    await page.getByRole('link', { name: directory, exact: true }).click();
    await page.getByRole('navigation', { name: 'Path' }).getByText(directory).waitFor();
    const names = () => page.locator('.virtual-space .cell.name a').allTextContents();
    return { dashboard, page, names, path: (name: string) => join(root, directory, name) };
  };

  test('files are uploaded by choice and by drop, whole and in parts, and replace nothing unasked', async () => {
    const { page, dashboard, names, path } = await open('up', { 'taken.txt': 'old' });
    const large = Buffer.alloc(9 * 1024 * 1024, 'abcdefg');
    await page.locator('input[type=file]').setInputFiles([
      { name: 'large.bin', mimeType: '', buffer: large },
      { name: 'taken.txt', mimeType: '', buffer: Buffer.from('new') },
    ]);
    await page.getByText('There is one of this name already.').waitFor();
    dashboard.forgive(/412/);
    expect(readFileSync(path('taken.txt'), 'utf8')).toBe('old');
    expect(readFileSync(path('large.bin')).equals(large)).toBe(true);
    await dashboard.button('Replace').click();
    await expect.poll(() => readFileSync(path('taken.txt'), 'utf8'), PATIENCE).toBe('new');
    const data = await page.evaluateHandle(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['dropped'], 'dropped.txt'));
      return transfer;
    });
    await page.locator('.directory').dispatchEvent('drop', { dataTransfer: data });
    await page.getByRole('link', { name: 'dropped.txt', exact: true }).waitFor();
    expect(await names()).toEqual(['dropped.txt', 'large.bin', 'taken.txt']);
    expect(readFileSync(path('dropped.txt'), 'utf8')).toBe('dropped');
  });

  test('a text is edited, and what others wrote meanwhile is lost only on request', async () => {
    const { page, dashboard, path } = await open('edit', { 'note.txt': 'one\r\ntwo\r\n' });
    await page.getByRole('link', { name: 'note.txt', exact: true }).click();
    const text = page.getByLabel('Text of note.txt');
    const saved = () => readFileSync(path('note.txt'), 'utf8');
    await dashboard.button('Edit').click();
    await text.fill('one\nTWO\n');
    await dashboard.button('Save').click();
    await page.locator('.file-text').getByText('TWO').waitFor();
    expect(saved()).toBe('one\r\nTWO\r\n');
    await dashboard.button('Edit').click();
    await text.fill('mine');
    writeFileSync(path('note.txt'), 'theirs');
    await dashboard.button('Save').click();
    await page.getByText('The file has changed since you opened it.').waitFor();
    dashboard.forgive(/412/);
    expect(saved()).toBe('theirs');
    await dashboard.button(/^Reload it/).click();
    await page.locator('.file-text').getByText('theirs').waitFor();
    await dashboard.button('Edit').click();
    await text.fill('mine again');
    writeFileSync(path('note.txt'), 'theirs again');
    await dashboard.button('Save').click();
    await dashboard.button('Overwrite it').click();
    await page.locator('.file-text').getByText('mine again').waitFor();
    expect(saved()).toBe('mine again');
  });

  test('what is there is downloaded, renamed and deleted, and folders are made', async () => {
    const { page, dashboard, names, path } = await open('manage', { 'a.txt': 'content', 'b.png': PIXEL });
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByLabel('Download a.txt').click()]);
    expect(download.suggestedFilename()).toBe('a.txt');
    expect(readFileSync(await download.path(), 'utf8')).toBe('content');
    await dashboard.button('Rename a.txt').click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('z 100%.txt');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'z 100%.txt', exact: true }).waitFor();
    await dashboard.button('New folder').click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('inner');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'inner', exact: true }).waitFor();
    expect(await names()).toEqual(['inner', 'b.png', 'z 100%.txt']);
    writeFileSync(path('inner/deep.txt'), '');
    await dashboard.button('Delete inner').click();
    await dashboard.button('Keep it').click();
    expect(readdirSync(path('inner'))).toEqual(['deep.txt']);
    await dashboard.button('Delete inner').click();
    await dashboard.button('Delete').click();
    await page.getByText('inner was deleted.').waitFor();
    await expect.poll(names, PATIENCE).toEqual(['b.png', 'z 100%.txt']);
    await page.getByRole('link', { name: 'z 100%.txt', exact: true }).click();
    await page.locator('.file-text').getByText('content').waitFor();
    await dashboard.button('Type a path').click();
    await page.getByLabel('Path', { exact: true }).fill('/manage/b.png');
    await page.keyboard.press('Enter');
    const picture = page.getByRole('img', { name: 'b.png' });
    await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth), PATIENCE).toBe(1);
    expect(await picture.getAttribute('src')).toMatch(/^blob:/);
  });

  test('hostile names and contents are text, a name that is not UTF-8 is opened, thousands are listed, axe-core is content', async () => {
    const files = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`f${index}.txt`, '']));
    const { page, dashboard, names } = await open('odd', { ...files, [HTML]: `<script>alert('content')</script>` });
    writeFileSync(Buffer.concat([Buffer.from(join(root, 'odd', 'byte-')), Buffer.from([0xff])]), 'not UTF-8');
    await dashboard.button('Look again').click();
    await page.locator('.cell.name a', { hasText: 'byte-' }).waitFor();
    expect((await names()).slice(0, 4)).toEqual([HTML, 'byte-\ufffd', 'f0.txt', 'f1.txt']);
    expect((await names()).length).toBeLessThan(100);
    expect(await page.locator('main img').count()).toBe(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findings(dashboard)).toEqual([]);
    }
    await page.locator('.cell.name a', { hasText: 'byte-' }).click();
    await page.locator('.file-text').getByText('not UTF-8').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: HTML, exact: true }).click();
    await page.locator('.file-text').getByText(`<script>alert('content')</script>`).waitFor();
    await dashboard.button('Edit').click();
    expect(await findings(dashboard)).toEqual([]);
  });
});

test('the address of a place is its bytes', () => {
  for (const raw of ['', 'a/b', 'a%20b/100%25', '%ff%fe/x', 'caf%C3%A9']) {
    expect(placeHref(placeOf(raw)).toLowerCase()).toBe(`#/files${raw === '' ? '' : '/'}${raw}`.toLowerCase());
  }
  expect(filePath(placeOf(''))).toEqual({ path: '.' });
  expect(filePath(placeOf('a%2520/b'))).toEqual({ path: 'a%20/b' });
  expect(filePath(placeOf('a/x%ff'))).toEqual({ path_base64: Buffer.from('a/x\xff', 'latin1').toString('base64') });
});
