import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LocalFileSystem } from '../../src/fs/local-file-system.js';
import type { SearchLine, SearchQuery } from '../../src/protocol/index.js';

const FILES = [
  ...['a', 'b.log', 'keep.log', '#hash', '!bang', 'with space ', 'x]y', 'été', 'a.b.c', 'A', '-', '\\back', 'q?', 'star*'],
  ...[
    'build/out',
    'build/keep',
    'src/a',
    'src/b.log',
    'src/build/x',
    'src/deep/a',
    'src/deep/b.log',
    'doc/frotz/x',
    'a1/b',
    'foo/x',
    'foo/y/z',
    'sub/foo/x',
  ],
];

describe('.gitignore', () => {
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'ignored-'));
    for (const path of FILES) put(path, 'x');
    execFileSync('git', ['init', '-q', dir]);
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function put(path: string, content: string): void {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), content);
  }

  async function found(below = '', query: SearchQuery = { text: 'x' }, root?: string): Promise<string[]> {
    const lines: SearchLine[] = [];
    const files = new LocalFileSystem(root === undefined ? {} : { root });
    for await (const batch of await files.search({ path: join(dir, below) }, { ...query, gitignore: true })) lines.push(...batch);
    return lines.flatMap((line) => ('done' in line || line.path.endsWith('.gitignore') ? [] : [line.path])).sort();
  }

  /** What git itself takes for not ignored. */
  function told(below = ''): string[] {
    const args = ['-C', join(dir, below), 'ls-files', '-z', '--others', '--exclude-per-directory=.gitignore'];
    return execFileSync('git', args)
      .toString()
      .split('\0')
      .filter((path) => path !== '' && !path.endsWith('.gitignore'))
      .sort();
  }

  const RULES = [
    ['*.log\n!keep.log'],
    ['build/'],
    ['/a\n/src/deep'],
    ['**/build\nfoo/**'],
    ['# comment\n\\#hash\n\\!bang\n'],
    ['with\\ space\\ \nb.log   '],
    ['*\n!*/\n!*.log'],
    ['src/**/a\ndoc/*/x'],
    ['[ab]\n[!a-z]1\nx[]]y'],
    ['[[:upper:]]\n?.b.?'],
    ['foo/*\n!foo/y\nfoo/y/*'],
    ['/*\n!/src\n/src/*\n!/src/deep'],
    ['\\\\back\nq\\?\nstar\\*'],
    ['a*/b\n[a-'],
    ['build/\n', 'src/.gitignore', '!build/\n*.log\n', 'src/deep/.gitignore', '!b.log\n'],
  ];

  it.each(RULES)('%j means what git says', async (rules, ...more) => {
    put('.gitignore', rules as string);
    for (let at = 0; at < more.length; at += 2) put(more[at] as string, more[at + 1] as string);
    expect(await found()).toEqual(told());
  });

  it('any rules mean what git says', async () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '*',
      '**',
      '/',
      '?',
      '[a-c]',
      '[!b]',
      '.log',
      'src',
      'build',
      'foo',
      'x',
      '\\',
      '!',
      ' ',
      'deep',
    );
    const rule = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(rule, { minLength: 1, maxLength: 4 }), fc.array(rule, { maxLength: 2 }), async (top, below) => {
        put('.gitignore', top.join('\n'));
        put('src/.gitignore', below.join('\n'));
        expect(await found()).toEqual(told());
      }),
      { numRuns: 20 },
    );
  });

  it('rules above the directory that is searched count, up to the repository, and no further than the root', async () => {
    put('.gitignore', '*.log\n/src/deep/a\n');
    put('src/.gitignore', 'x\n');
    expect(await found('src')).toEqual(['a']);
    expect(await found('src/deep')).toEqual([]);
    expect(await found('src/deep', undefined, join(dir, 'src'))).toEqual(['a', 'b.log']);
  });

  it('without a repository only the rules in the tree count, and a repository in the tree has its own', async () => {
    rmSync(join(dir, '.git'), { recursive: true });
    put('.gitignore', 'a\n');
    put('foo/.git/HEAD', 'x');
    put('foo/a', 'x');
    expect(await found('src')).toEqual(['a', 'b.log', 'build/x', 'deep/a', 'deep/b.log']);
    expect(await found('', { text: 'x', glob: ['a'] })).toEqual(['foo/a']);
  });
});
