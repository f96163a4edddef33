import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { MoveRequest } from '../../src/protocol/index.js';
import { codeOf, litter, ROOTS, Scratch } from './scratch.js';
import { treeSnapshot } from './tree-snapshot.js';

describe.each(ROOTS)('%s', (kind) => {
  const scratch = new Scratch(kind);
  const read = (name: string) => readFileSync(scratch.path(name), 'utf8');
  const write = (name: string) => writeFileSync(scratch.path(name), name);
  const names = (name = '') => readdirSync(scratch.path(name)).sort();
  const snapshot = () => treeSnapshot(Buffer.from(scratch.path('')));
  const move = (from: string, to: string, options: MoveRequest = {}) =>
    scratch.files.move({ source_path: scratch.path(from), destination_path: scratch.path(to), ...options });

  test('files, links, fifos and trees are moved', async () => {
    mkdirSync(scratch.path('d/e'), { recursive: true });
    write('d/e/f');
    write('f');
    symlinkSync('missing', scratch.path('link'));
    execFileSync('mkfifo', [scratch.path('fifo')]);
    const { ino } = statSync(scratch.path('f'));
    for (const name of ['d', 'f', 'link', 'fifo']) await move(name, `${name}-moved`);
    expect(names()).toEqual(['d-moved', 'f-moved', 'fifo-moved', 'link-moved']);
    expect([read('d-moved/e/f'), readlinkSync(scratch.path('link-moved')), statSync(scratch.path('f-moved')).ino]).toEqual([
      'd/e/f',
      'missing',
      ino,
    ]);
  });

  test('without overwrite nothing is replaced, not even an empty directory', async () => {
    for (const name of ['d', 'empty', 'full/x']) mkdirSync(scratch.path(name), { recursive: true });
    for (const name of ['f', 'other']) write(name);
    symlinkSync('missing', scratch.path('link'));
    const before = snapshot();
    for (const from of ['d', 'f']) {
      for (const to of ['empty', 'full', 'other', 'link', from]) expect(await codeOf(move(from, to))).toBe('path_exists');
    }
    expect(await codeOf(move('missing', 'new'))).toBe('path_not_found');
    expect(await codeOf(move('f', 'missing/new'))).toBe('path_not_found');
    expect(await codeOf(move('f', 'f/new'))).toBe('not_a_directory');
    expect(snapshot()).toEqual(before);
  });

  test('of two moves to one name one succeeds', async () => {
    for (let round = 0; round < 50; round++) {
      for (const name of ['a', 'b']) round % 2 ? write(name) : mkdirSync(scratch.path(name));
      const outcomes = await Promise.all(['a', 'b'].map((name) => codeOf(move(name, 'to'))));
      expect(outcomes.sort()).toEqual(['path_exists', undefined]);
      expect(names()).toHaveLength(2);
      for (const name of names()) await scratch.files.remove(scratch.at(name));
    }
  });

  test('with overwrite a file replaces a file or link, and a directory is merged', async () => {
    for (const name of ['from/both/deep', 'from/only', 'to/both', 'empty']) mkdirSync(scratch.path(name), { recursive: true });
    for (const name of ['from/f', 'from/both/f', 'from/both/deep/f', 'to/f', 'to/both/f', 'to/both/old', 'f', 'target']) write(name);
    symlinkSync('target', scratch.path('link'));
    await move('f', 'link', { overwrite: true });
    expect([read('link'), read('target')]).toEqual(['f', 'target']);
    await move('from', 'to', { overwrite: true });
    expect(['to/f', 'to/both/f', 'to/both/old', 'to/both/deep/f'].map(read)).toEqual([
      'from/f',
      'from/both/f',
      'to/both/old',
      'from/both/deep/f',
    ]);
    await move('to', 'empty', { overwrite: true });
    expect([names(), names('empty')]).toEqual([
      ['empty', 'link', 'target'],
      ['both', 'f', 'only'],
    ]);
    expect(await codeOf(move('link', 'empty', { overwrite: true }))).toBe('is_a_directory');
    expect(await codeOf(move('empty', 'link', { overwrite: true }))).toBe('not_a_directory');
    await move('link', 'new', { overwrite: true });
    expect(names()).toEqual(['empty', 'new', 'target']);
  });

  test('a merge stops where file and directory meet, and tells the path', async () => {
    mkdirSync(scratch.path('from/x'), { recursive: true });
    mkdirSync(scratch.path('to/x/y'), { recursive: true });
    write('from/x/y');
    await expect(move('from', 'to', { overwrite: true })).rejects.toMatchObject({
      code: 'is_a_directory',
      message: expect.stringContaining('"from/x/y"'),
    });
    expect(read('from/x/y')).toBe('from/x/y');
  });

  test('B41: a directory is not moved into itself, whatever it is called', async () => {
    mkdirSync(scratch.path('a/b'), { recursive: true });
    symlinkSync('a/b', scratch.path('link'));
    const before = snapshot();
    for (const overwrite of [false, true]) {
      for (const to of ['a/c', 'a/b/c', 'link/c', './a/b/../c'])
        expect(await codeOf(move('a', to, { overwrite }))).toBe('copy_into_itself');
    }
    await move('a', 'a', { overwrite: true });
    expect(snapshot()).toEqual(before);
  });

  test('two names of one file become one', async () => {
    write('a');
    linkSync(scratch.path('a'), scratch.path('b'));
    await move('a', 'b', { overwrite: true });
    expect(names()).toEqual(['b']);
    await move('b', 'b', { overwrite: true });
    expect(names()).toEqual(['b']);
  });

  test('a move never takes what a conditional write has promised to see', async () => {
    for (let round = 0; round < 30; round++) {
      const { metadata } = await scratch.files.writeFile(scratch.at('f'), Buffer.from('old'));
      write('mine');
      const written = codeOf(scratch.files.writeFile(scratch.at('f'), Buffer.from('written'), { if_match: [metadata.etag as string] }));
      await Promise.all([written, move('mine', 'f', { overwrite: true })]);
      // Whichever was first: the moved file is the last, or the writer was told.
      if ((await written) !== 'precondition_failed') expect(read('f')).toBe('mine');
    }
    expect(litter(scratch.path(''))).toEqual([]);
  });
});
