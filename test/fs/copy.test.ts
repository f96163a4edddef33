import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CopyRequest } from '../../src/protocol/index.js';
import { codeOf, litter, ROOTS, Scratch } from './scratch.js';
import { plantDeep, treeSnapshot } from './tree-snapshot.js';

describe.each(ROOTS)('%s', (kind) => {
  const scratch = new Scratch(kind);
  const read = (name: string) => readFileSync(scratch.path(name), 'utf8');
  const write = (name: string, content = name) => writeFileSync(scratch.path(name), content);
  const snapshot = (name = '') => treeSnapshot(Buffer.from(scratch.path(name)));
  const copy = (from: string, to: string, options: CopyRequest = {}) =>
    scratch.files.copy({ source_path: scratch.path(from), destination_path: scratch.path(to), ...options });

  test('a file is copied with its mode, without set-id bits', async () => {
    write('f', 'content');
    for (const [mode, copied] of [
      [0o751, 0o751],
      [0o400, 0o400],
      [0o6755, 0o755],
      [0, 0],
    ] as const) {
      chmodSync(scratch.path('f'), mode);
      expect(await copy('f', `copy-${mode}`)).toEqual({ files: 1, directories: 0, bytes: 7, skipped: [] });
      expect([read(`copy-${mode}`), statSync(scratch.path(`copy-${mode}`)).mode & 0o7777]).toEqual(['content', copied]);
    }
    expect(litter(scratch.path(''))).toEqual([]);
  });

  test('a large file is copied, a sparse one keeps its holes, one of /proc is copied whole', async () => {
    const bytes = Buffer.alloc(140 * 1024 ** 2, 'large');
    writeFileSync(scratch.path('large'), bytes);
    expect(await copy('large', 'copy')).toMatchObject({ bytes: bytes.length });
    expect(readFileSync(scratch.path('copy')).equals(bytes)).toBe(true);
    write('sparse', 'start');
    truncateSync(scratch.path('sparse'), 200 * 1024 ** 2);
    await copy('sparse', 'sparse-copy');
    const { size, blocks } = statSync(scratch.path('sparse-copy'));
    expect([size, blocks < 10_000]).toEqual([200 * 1024 ** 2, true]);
    expect(readFileSync(scratch.path('sparse-copy')).subarray(0, 7).toString()).toBe('start\0\0');
  });

  test('what is copied of a tree of many files is counted whole', async () => {
    mkdirSync(scratch.path('many'));
    for (let i = 0; i < 100; i++) write(`many/${i}`, 'x'.repeat(1000));
    expect(await copy('many', 'copy', { recursive: true })).toEqual({ files: 100, directories: 1, bytes: 100_000, skipped: [] });
  });

  test('B41: nothing is copied into itself or onto itself, whatever it is called, and nothing is made', async () => {
    mkdirSync(scratch.path('a/b'), { recursive: true });
    write('a/f');
    write('f');
    symlinkSync('a/b', scratch.path('link'));
    const before = snapshot();
    for (const overwrite of [false, true]) {
      expect(await codeOf(copy('a', 'a/b/c', { recursive: true, overwrite }))).toBe('copy_into_itself');
      expect(await codeOf(copy('a', 'a/c', { recursive: true, overwrite }))).toBe('copy_into_itself');
      expect(await codeOf(copy('a', 'link/c', { recursive: true, overwrite }))).toBe('copy_into_itself');
      expect(await codeOf(copy('.', 'a/c', { recursive: true, overwrite }))).toBe('copy_into_itself');
      for (const self of ['a', 'a/', 'a/b/..', './a/.']) {
        expect(await codeOf(copy('a', self, { recursive: true, overwrite }))).toBe(overwrite ? 'copy_into_itself' : 'path_exists');
      }
      expect(await codeOf(copy('f', 'f', { overwrite }))).toBe(overwrite ? 'copy_into_itself' : 'path_exists');
      expect(await codeOf(copy('a/f', 'a', { overwrite }))).toBe(overwrite ? 'is_a_directory' : 'path_exists');
    }
    expect(await codeOf(copy('a', 'new'))).toBe('is_a_directory');
    expect(await codeOf(copy('missing', 'new'))).toBe('path_not_found');
    expect(await codeOf(copy('f', 'missing/new'))).toBe('path_not_found');
    expect(await codeOf(copy('f/', 'new'))).toBe('not_a_directory');
    expect(await codeOf(copy('f', 'new/'))).toBe('not_a_directory');
    expect(snapshot()).toEqual(before);
  });

  test('B41: what is there is kept, or with overwrite replaced and merged, a directory never by a file', async () => {
    for (const name of ['from/both', 'to/both', 'to/clash']) mkdirSync(scratch.path(name), { recursive: true });
    for (const name of ['from/both/f', 'from/new', 'to/both/f', 'to/both/old', 'to/old', 'file']) write(name);
    const before = snapshot();
    expect(await codeOf(copy('from', 'to', { recursive: true }))).toBe('path_exists');
    expect(await codeOf(copy('file', 'to/old'))).toBe('path_exists');
    expect(await codeOf(copy('file', 'to', { overwrite: true }))).toBe('is_a_directory');
    expect(await codeOf(copy('from', 'file', { recursive: true, overwrite: true }))).toBe('not_a_directory');
    expect(snapshot()).toEqual(before);
    expect(await copy('from', 'to', { recursive: true, overwrite: true })).toEqual({ files: 2, directories: 0, bytes: 19, skipped: [] });
    expect(['to/both/f', 'to/both/old', 'to/new', 'to/old'].map(read)).toEqual(['from/both/f', 'to/both/old', 'from/new', 'to/old']);
    write('from/clash');
    await expect(copy('from', 'to', { recursive: true, overwrite: true })).rejects.toMatchObject({
      code: 'is_a_directory',
      message: expect.stringContaining('from/clash'),
    });
    mkdirSync(scratch.path('other/old'), { recursive: true });
    expect(await codeOf(copy('other', 'to', { recursive: true, overwrite: true }))).toBe('not_a_directory');
    expect(litter(scratch.path(''))).toEqual([]);
  });

  test('B28: links are copied as links, special files left out and told, odd names kept', async () => {
    mkdirSync(scratch.path('a/b'), { recursive: true });
    symlinkSync('missing', scratch.path('a/dangling'));
    symlinkSync(scratch.outside(''), scratch.path('a/out'));
    execFileSync('mkfifo', [scratch.path('a/b/fifo')]);
    execFileSync('mknod', [scratch.path('a/zero'), 'c', '1', '5']);
    writeFileSync(Buffer.concat([Buffer.from(scratch.path('a/')), Buffer.from([0xff])]), 'odd');
    const copied = await copy('a', 'copy', { recursive: true });
    expect(copied).toMatchObject({ files: 3, directories: 2, bytes: 3 });
    expect(copied.skipped.sort()).toEqual(['b/fifo', 'zero']);
    expect(readdirSync(scratch.path('copy'), { encoding: 'latin1' }).sort()).toEqual(['b', 'dangling', 'out', '\xff']);
    expect(await copy('a/out', 'link')).toEqual({ files: 1, directories: 0, bytes: 0, skipped: [] });
    expect(readlinkSync(scratch.path('link'))).toBe(scratch.outside(''));
  });

  test('a link at the destination is replaced and not followed', async () => {
    write('f');
    write('target');
    mkdirSync(scratch.path('d'));
    symlinkSync('target', scratch.path('link'));
    symlinkSync('d', scratch.path('directory-link'));
    expect(await codeOf(copy('f', 'link'))).toBe('path_exists');
    await copy('f', 'link', { overwrite: true });
    expect([read('link'), read('target')]).toEqual(['f', 'target']);
    expect(await codeOf(copy('d', 'directory-link', { recursive: true, overwrite: true }))).toBe('not_a_directory');
    linkSync(scratch.path('f'), scratch.path('second'));
    expect(await codeOf(copy('f', 'second', { overwrite: true }))).toBe('copy_into_itself');
  });

  test('a tree is copied equal: names, modes, contents, links', async () => {
    const name = fc.constantFrom('a', 'b', 'c', '\xff', 'é', '-', ' ');
    const file = fc.tuple(
      fc.array(name, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(0o600, 0o644, 0o755, 0o444),
      fc.uint8Array({ maxLength: 100 }),
    );
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 10 }), async (tree) => {
        const top = `${round++}`;
        mkdirSync(scratch.path(top));
        for (const [names, mode, content] of tree) plant(top, names, mode, content);
        const copied = await copy(top, `${top}-copy`, { recursive: true });
        expect(snapshot(`${top}-copy`)).toEqual(snapshot(top));
        expect(copied.skipped).toEqual([]);
        await scratch.files.remove(scratch.at(`${top}-copy`), { recursive: true });
        expect(existsSync(scratch.path(`${top}-copy`))).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  function plant(top: string, names: string[], mode: number, content: Uint8Array): void {
    const path = (count: number) => Buffer.from(scratch.path([top, ...names.slice(0, count)].join('/')), 'latin1');
    try {
      mkdirSync(path(names.length - 1), { recursive: true });
      chmodSync(path(names.length - 1), mode | 0o300);
      if (content.length % 3 === 0) symlinkSync(Buffer.from(content).toString('hex') || '.', path(names.length));
      else writeFileSync(path(names.length), content, { mode });
    } catch {
      // A file is where a directory was to be, or the reverse.
    }
  }

  test('a tree of any depth is copied, with few descriptors', async () => {
    plantDeep(scratch.path(''), 300);
    let most = 0;
    const before = readdirSync('/proc/self/fd').length;
    const watch = setInterval(() => {
      most = Math.max(most, readdirSync('/proc/self/fd').length);
    }, 1);
    expect(await copy('d', 'copy', { recursive: true })).toMatchObject({ files: 300, directories: 300 });
    clearInterval(watch);
    expect(most - before).toBeLessThan(150);
  });

  test('an abort or a failure in the middle leaves nothing of a new tree', async () => {
    for (let i = 0; i < 30; i++) {
      mkdirSync(scratch.path(`d/${i}`), { recursive: true });
      for (let j = 0; j < 20; j++) write(`d/${i}/${j}`);
      chmodSync(scratch.path(`d/${i}`), 0o500);
    }
    const abort = new AbortController();
    const going = scratch.files.copy(
      { source_path: scratch.path('d'), destination_path: scratch.path('copy'), recursive: true },
      { signal: abort.signal },
    );
    while (!readdirSync(scratch.path('')).some((name) => name.startsWith('.copy'))) await new Promise(setImmediate);
    abort.abort(new Error('enough'));
    await expect(going).rejects.toThrow('enough');
    expect(readdirSync(scratch.path(''))).toEqual(['d']);
  });

  test('a large copy stops at an abort, and leaves nothing', async () => {
    write('large', '');
    truncateSync(scratch.path('large'), 4 * 1024 ** 3);
    const abort = new AbortController();
    const going = scratch.files.copy(
      { source_path: scratch.path('large'), destination_path: scratch.path('copy') },
      { signal: abort.signal },
    );
    while (readdirSync(scratch.path('')).length < 2) await new Promise(setImmediate);
    abort.abort(new Error('enough'));
    await expect(going).rejects.toThrow('enough');
    expect(readdirSync(scratch.path(''))).toEqual(['large']);
  });
});
