import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LocalFileSystem } from '../../src/fs/local-file-system.js';
import { codeOf, ROOTS, Scratch } from './scratch.js';
import { plantDeep } from './tree-snapshot.js';

describe.each(ROOTS)('%s', (kind) => {
  const scratch = new Scratch(kind);

  test('B30: a link is removed, with or without a slash behind it, and never what it leads to', async () => {
    const { files } = scratch;
    mkdirSync(scratch.path('d'));
    writeFileSync(scratch.path('d/f'), '');
    for (const path of ['link', 'link/', 'link///']) {
      for (const recursive of [false, true]) {
        symlinkSync('d', scratch.path('link'));
        expect(await files.remove(scratch.at(path), { recursive })).toEqual({ removed: true });
        expect(readdirSync(scratch.path(''))).toEqual(['d']);
      }
    }
    symlinkSync('missing', scratch.path('link'));
    await files.remove(scratch.at('link'));
    expect(readdirSync(scratch.path('d'))).toEqual(['f']);
  });

  test('B30: a tree goes with its links, fifos and odd names, and not what they lead to', async () => {
    const { files } = scratch;
    mkdirSync(scratch.path('d/a/b'), { recursive: true });
    mkdirSync(scratch.path('d/empty'), { mode: 0 });
    symlinkSync(scratch.outside(''), scratch.path('d/a/out'));
    symlinkSync('..', scratch.path('d/a/b/up'));
    execFileSync('mkfifo', [scratch.path('d/a/fifo')]);
    writeFileSync(Buffer.concat([Buffer.from(scratch.path('d/')), Buffer.from([0xff])]), '');
    expect(await codeOf(files.remove(scratch.at('d')))).toBe('directory_not_empty');
    expect(readdirSync(scratch.path('d'))).toHaveLength(3);
    expect(await files.remove(scratch.at('d'), { recursive: true })).toEqual({ removed: true });
    expect(readdirSync(scratch.path(''))).toEqual([]);
    expect(scratch.outsideState).toEqual(['outside/secret', 'root-evil/secret']);
  });

  test('B30: what is missing is 404, or done when forced; an empty directory needs nothing', async () => {
    const { files } = scratch;
    mkdirSync(scratch.path('empty'));
    for (const path of ['missing', 'missing/', 'missing/below', 'empty/missing']) {
      expect(await codeOf(files.remove(scratch.at(path)))).toBe('path_not_found');
      expect(await codeOf(files.remove(scratch.at(path), { recursive: true }))).toBe('path_not_found');
      expect(await files.remove(scratch.at(path), { force: true, recursive: true })).toEqual({ removed: false });
    }
    expect(await files.remove(scratch.at('empty/'))).toEqual({ removed: true });
  });

  test('B30: paths that end in dots name no entry', async () => {
    mkdirSync(scratch.path('a/b'), { recursive: true });
    symlinkSync('a', scratch.path('link'));
    for (const path of ['a/.', 'a/b/..', 'a/b/./', 'link/.', 'a/b/../']) {
      expect(await codeOf(scratch.files.remove(scratch.at(path), { recursive: true, force: true }))).toBe('invalid_path');
    }
    expect(existsSync(scratch.path('a/b'))).toBe(true);
  });

  test('a tree of any depth goes, with few descriptors', async () => {
    plantDeep(scratch.path(''), 500);
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, readdirSync('/proc/self/fd').length);
    }, 1);
    const before = readdirSync('/proc/self/fd').length;
    await scratch.files.remove(scratch.at('d'), { recursive: true });
    clearInterval(watch);
    expect(readdirSync(scratch.path(''))).toEqual([]);
    expect(most - before).toBeLessThan(60);
  });

  test('an abort ends it in the middle', async () => {
    for (let i = 0; i < 50; i++) {
      mkdirSync(scratch.path(`d/${i}`), { recursive: true });
      for (let j = 0; j < 20; j++) writeFileSync(scratch.path(`d/${i}/${j}`), '');
    }
    const abort = new AbortController();
    const removal = scratch.files.remove(scratch.at('d'), { recursive: true, signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(removal).rejects.toThrow('enough');
    expect(existsSync(scratch.path('d'))).toBe(true);
  });
});

const scratch = new Scratch();

test('B30: the root stays, however it is spelt', async () => {
  mkdirSync(scratch.path('a'));
  writeFileSync(scratch.path('f'), '');
  symlinkSync('.', scratch.path('self'));
  symlinkSync(scratch.path(''), scratch.path('absolute'));
  const { files } = scratch;
  const root = scratch.path('');
  for (const options of [{}, { recursive: true }, { recursive: true, force: true }]) {
    expect(await codeOf(files.remove({ path: '' }, options))).toBe('invalid_path');
    for (const path of [
      '.',
      './',
      './.',
      'a/..',
      'a/../',
      './a/../.',
      root,
      `${root}/`,
      `${root}/.`,
      `${root}//`,
      `${root}/a/..`,
      'self/.',
      'absolute/.',
    ]) {
      expect(await codeOf(files.remove({ path }, options))).toBe('root_protected');
      expect(await codeOf(files.move({ source_path: path, destination_path: 'b' }))).toBe('root_protected');
      expect(await codeOf(files.move({ source_path: 'a', destination_path: path, overwrite: true }))).toBe('root_protected');
    }
    expect(await codeOf(files.remove({ path: '/' }, options))).toBe('path_outside_root');
  }
  expect(readdirSync(root).sort()).toEqual(['a', 'absolute', 'f', 'self']);
  expect(await files.remove({ path: 'self/' }, { recursive: true })).toEqual({ removed: true });
  expect(await files.remove({ path: 'absolute/' }, { recursive: true })).toEqual({ removed: true });
  expect(readdirSync(root).sort()).toEqual(['a', 'f']);
});

test('B30: the whole machine is not removed either', async () => {
  const files = new LocalFileSystem();
  for (const path of ['/', '//', '/.', '/..', '.', '..', '/tmp/..', '../..', '/proc/self/root/', '/proc/self/root/.']) {
    const code = path === '/proc/self/root/' ? 'access_denied' : 'root_protected';
    // Never recursive here: should it not be refused, an empty / is all that could go.
    expect(await codeOf(files.remove({ path }))).toBe(code);
  }
});
