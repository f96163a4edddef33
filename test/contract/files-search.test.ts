import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SearchEnd, SearchLine, SearchMatch, SearchQuery } from '../../src/protocol/index.js';
import { BACKENDS, useBackend } from '../support/backends.js';
import { codeOf } from '../support/told.js';

describe.each(BACKENDS)('%s', (name) => {
  const backend = useBackend(name);
  let dir = '';

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'searched-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function files(contents: Record<string, string | Buffer>): void {
    for (const [path, content] of Object.entries(contents)) {
      mkdirSync(join(dir, path, '..'), { recursive: true });
      writeFileSync(join(dir, path), content);
    }
  }

  async function search(query: SearchQuery, below = ''): Promise<{ matches: SearchMatch[]; end: SearchEnd }> {
    const lines: SearchLine[] = [];
    for await (const batch of await backend.files.search({ path: join(dir, below) }, query)) lines.push(...batch);
    const end = lines.pop() as SearchEnd;
    expect(end.done).toBe(true);
    expect(lines.every((line) => !('done' in line))).toBe(true);
    return { matches: lines as SearchMatch[], end };
  }

  const where = async (query: SearchQuery, below = '') =>
    (await search(query, below)).matches.map(({ path, line, column }) => (line === null ? path : `${path}:${line}:${column}`));

  it('lines that hold a text, with their place', async () => {
    files({ 'a.txt': 'one\ntwo words\r\nthree\n', 'd/b.txt': 'x\n\nété: two, two\n', 'd/last': 'no line end: two' });
    expect(await search({ text: 'two' })).toMatchObject({
      matches: [
        { path: 'a.txt', path_base64: null, type: 'file', line: 2, column: 1, text: 'two words', text_cut: false },
        { path: 'd/b.txt', path_base64: null, type: 'file', line: 3, column: 8, text: 'été: two, two', text_cut: false },
        { path: 'd/last', path_base64: null, type: 'file', line: 1, column: 14, text: 'no line end: two', text_cut: false },
      ],
      end: { truncated: false, reason: null, matches: 3, files: 3, skipped: { binary: 0, too_large: 0, unreadable: 0 } },
    });
  });

  it('text is literal, and an expression on request, upper and lower case alike on request', async () => {
    files({ a: 'a.c\nabc\nABC\nstraße\nSTRASSE É\n' });
    expect(await where({ text: 'a.c' })).toEqual(['a:1:1']);
    expect(await where({ text: 'a.c', regex: true })).toEqual(['a:1:1', 'a:2:1']);
    expect(await where({ text: 'A.C', ignore_case: true })).toEqual(['a:1:1']);
    expect(await where({ text: '^A.C$', regex: true, ignore_case: true })).toEqual(['a:1:1', 'a:2:1', 'a:3:1']);
    expect(await where({ text: 'é', ignore_case: true })).toEqual(['a:5:9']);
    expect(await where({ text: 'aß|b$', regex: true })).toEqual(['a:4:4']);
  });

  it('empty lines too, the last one among them', async () => {
    files({ one: 'a\n\n', two: '\n', three: 'a\r\n\r\nb\n', none: '', last: 'a\n' });
    expect((await where({ text: '^$', regex: true })).sort()).toEqual(['one:2:1', 'three:2:1', 'two:1:1']);
  });

  it('what is no expression, and what asks for nothing, is refused', async () => {
    for (const text of ['(', '(?=a)', '(a)\\1', 'a{2000}', '\\pL{1000}{1000}']) {
      expect(await codeOf(search({ text, regex: true })), text).toBe('invalid_pattern');
    }
    expect(await codeOf(search({}))).toBe('invalid_request');
    expect(await codeOf(search({ text: 'a\nb' }))).toBe('invalid_request');
    expect(await codeOf(search({ text: 'a' }, 'nothing'))).toBe('path_not_found');
    execFileSync('mkfifo', [join(dir, 'fifo')]);
    expect(await codeOf(search({ text: 'a' }, 'fifo'))).toBe('not_regular_file');
  });

  it('globs choose files, and without a text they find whatever has the name', async () => {
    files({ 'a.ts': 'x', 'a.js': 'x', 'src/b.ts': 'x', 'src/deep/c.ts': 'x', 'src/deep/c.test.ts': 'x', 'ts/x': 'x' });
    symlinkSync('nowhere', join(dir, 'link.ts'));
    expect(await where({ glob: ['*.ts'] })).toEqual(['a.ts', 'link.ts', 'src/b.ts', 'src/deep/c.test.ts', 'src/deep/c.ts']);
    expect(await where({ glob: ['src/**/*.ts'], text: 'x' })).toEqual(['src/b.ts:1:1', 'src/deep/c.test.ts:1:1', 'src/deep/c.ts:1:1']);
    expect(await where({ glob: ['/*.{ts,js}'] })).toEqual(['a.js', 'a.ts', 'link.ts']);
    expect(await where({ glob: ['src/*'] })).toEqual(['src/b.ts', 'src/deep']);
    expect(await where({ glob: ['[!a]*.test.?s', 'ts/'] })).toEqual(['src/deep/c.test.ts', 'ts']);
    const { matches } = await search({ glob: ['link.ts', 'deep'] });
    expect(matches.map(({ path, type, line, text }) => [path, type, line, text])).toEqual([
      ['link.ts', 'symlink', null, null],
      ['src/deep', 'directory', null, null],
    ]);
  });

  it('binary files, and names that are not UTF-8', async () => {
    files({ binary: Buffer.from('find\0me'), latin: Buffer.from([0xe9, 0x20, 0x66, 0x69, 0x6e, 0x64, 0x0a]), marked: '\ufefffind' });
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0x7a, 0xff])]), 'find');
    const { matches, end } = await search({ text: '^find|. find', regex: true });
    expect(matches.map(({ path, path_base64, column, text }) => [path, path_base64, column, text])).toEqual([
      ['latin', null, 1, '\ufffd find'],
      ['marked', null, 1, 'find'],
      ['z\ufffd', 'ev8=', 1, 'find'],
    ]);
    expect(end.skipped).toEqual({ binary: 1, too_large: 0, unreadable: 0 });
  });

  it('a long line is cut around the match, characters whole', async () => {
    files({ min: `${'é'.repeat(5_000)}needle${'ü'.repeat(5_000)}\nneedle` });
    const { matches } = await search({ text: 'needle' });
    expect(matches).toMatchObject([
      { line: 1, column: 10_001, text_cut: true },
      { line: 2, column: 1, text_cut: false },
    ]);
    expect(matches[0]?.text).toMatch(/^é+needleü+$/);
    expect(Buffer.byteLength(matches[0]?.text ?? '')).toBeLessThanOrEqual(512);
  });

  it('a pattern that ruins a backtracking engine is as fast as any other', async () => {
    files({ long: `${'a'.repeat(1_000_000)}!\n`.repeat(8) });
    const began = performance.now();
    const { matches, end } = await search({ text: '(a+)+$', regex: true });
    expect(matches).toEqual([]);
    expect(end).toMatchObject({ truncated: false, files: 1 });
    expect(await where({ glob: [`${'*a'.repeat(100)}b`] })).toEqual([]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('it ends at its limit, and says so', async () => {
    files({ many: 'x\n'.repeat(5_000) });
    expect((await search({ text: 'x' })).end).toMatchObject({ truncated: true, reason: 'limit', matches: 1_000 });
    expect((await search({ text: 'x', limit: 5_000 })).end).toMatchObject({ truncated: false, reason: null, matches: 5_000 });
  });

  it('it ends when its time is up, and says so', async () => {
    files({ a: Buffer.alloc(100_000_000, `${'a'.repeat(99)}\n`) });
    const { end } = await search({ text: '(a|aa)+(x|y){10}$', regex: true, timeout_ms: 300 });
    expect(end).toMatchObject({ truncated: true, reason: 'timeout' });
    expect(end.elapsed_ms).toBeLessThan(2_500);
  });

  it('links are not followed, but the one that is named', async () => {
    files({ 'd/a': 'find' });
    symlinkSync('d', join(dir, 'way'));
    symlinkSync('d/a', join(dir, 'file'));
    expect(await where({ text: 'find' })).toEqual(['d/a:1:1']);
    expect(await where({ text: 'find' }, 'way')).toEqual(['a:1:1']);
    expect(await where({ text: 'find' }, 'file')).toEqual(['file:1:1']);
  });

  it('a file of /proc, which says that it is empty, is searched when it is named', async () => {
    const lines: SearchLine[] = [];
    for await (const batch of await backend.files.search({ path: '/proc/self/status' }, { text: '^Name:', regex: true }))
      lines.push(...batch);
    expect(lines).toMatchObject([
      { path: 'status', line: 1 },
      { done: true, files: 1 },
    ]);
  });

  it('leaving ends it', async () => {
    files({ many: 'x\n'.repeat(100_000) });
    for await (const batch of await backend.files.search({ path: dir }, { text: 'x', limit: 100_000 })) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
    const given_up = new AbortController();
    const found = await backend.files.search({ path: dir }, { text: 'x', limit: 100_000 }, { signal: given_up.signal });
    given_up.abort(new Error('given up'));
    await expect(
      (async () => {
        for await (const _batch of found);
      })(),
    ).rejects.toThrow('given up');
  });
});
