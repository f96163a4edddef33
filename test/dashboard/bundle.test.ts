import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = new URL('../../dist/web/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, DIST), 'utf8');
const packed = (names: string[]) => names.reduce((sum, name) => sum + gzipSync(read(name)).length, 0);

const assets = readdirSync(new URL('assets/', DIST)).map((name) => `assets/${name}`);
const terminal = assets.filter((name) => name.startsWith('assets/terminal-'));

test('without the terminal it is small: at most 200 KB packed, and half of that for now', () => {
  expect(terminal).toHaveLength(2);
  const rest = packed(['index.html', ...assets.filter((name) => !terminal.includes(name))]);
  expect(rest).toBeLessThan(100_000);
});

test('the page holds no script and no style of its own, and asks for nothing elsewhere', () => {
  const page = read('index.html');
  expect(page).not.toMatch(/<style|\son\w+=|style=|<script(?![^>]*\ssrc=)/i);
  for (const [, address] of page.matchAll(/(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^\.\/assets\//);
  expect(page).not.toContain('terminal-');
});

test('no source is taken for markup, and nothing is evaluated', () => {
  const sources = readdirSync(new URL('../../web/', import.meta.url), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  expect(sources.length).toBeGreaterThan(30);
  for (const name of sources) {
    const text = readFileSync(new URL(`../../web/${name}`, import.meta.url), 'utf8');
    expect(text, name).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/i);
  }
});
