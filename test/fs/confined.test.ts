import { mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LocalFileSystem } from '../../src/fs/local-file-system.js';
import { codeOf, Scratch, textOf } from './scratch.js';

const scratch = new Scratch();

/** Every call, on one path. */
const CALLS: Record<string, (files: LocalFileSystem, path: string) => Promise<unknown>> = {
  read: (files, path) => files.readFile({ path }),
  write: (files, path) => files.writeFile({ path }, Buffer.from('x')),
  'write below new directories': (files, path) => files.writeFile({ path: `${path}/new/x` }, Buffer.from('x'), { create_parents: true }),
  list: (files, path) => files.readDirectory({ path }),
  metadata: (files, path) => files.getMetadata({ path }),
  'metadata of the target': (files, path) => files.getMetadata({ path }, { follow_symlinks: true }),
  'create a directory': (files, path) => files.createDirectory({ path }),
  'create directories': (files, path) => files.createDirectory({ path: `${path}/new/y` }, { recursive: true }),
  remove: (files, path) => files.remove({ path }, { recursive: true, force: true }),
  'copy from': (files, path) => files.copy({ source_path: path, destination_path: 'taken', recursive: true }),
  'copy to': (files, path) => files.copy({ source_path: 'mine', destination_path: path, overwrite: true }),
  'move from': (files, path) => files.move({ source_path: path, destination_path: 'taken' }),
  'move to': (files, path) => files.move({ source_path: 'mine', destination_path: path, overwrite: true }),
};

describe.each(Object.entries(CALLS))('B09: %s', (_name, call) => {
  test.each([
    ['..', 'path_outside_root'],
    ['../outside/secret', 'path_outside_root'],
    ['a/../../outside/secret', 'path_outside_root'],
    ['missing/../../outside/secret', 'path_outside_root'],
    ['./a/.././../outside', 'path_outside_root'],
    ['TOP/outside/secret', 'path_outside_root'],
    ['TOP/root-evil/secret', 'path_outside_root'],
    ['TOP/root/../outside/secret', 'path_outside_root'],
    ['TOP/root/../root/mine', 'path_outside_root'],
    ['//TOP/root/..', 'path_outside_root'],
    ['/etc/passwd', 'path_outside_root'],
    ['/', 'path_outside_root'],
  ])('%s is refused', async (path, code) => {
    mkdirSync(scratch.path('a'));
    writeFileSync(scratch.path('mine'), 'mine');
    const before = scratch.outsideState;
    expect(await codeOf(call(scratch.files, path.replace('TOP', scratch.top)))).toBe(code);
    expect(scratch.outsideState).toEqual(before);
    expect(readFileSync(scratch.outside('secret'), 'utf8')).toBe('secret');
    expect(readdirSync(scratch.path('')).sort()).toEqual(['a', 'mine']);
  });
});

test.each(['..%2foutside%2fsecret', '%2e%2e%2foutside', '%252e%252e%252foutside', '..\\outside', '...'])(
  'B09: %s is a plain name',
  async (path) => {
    await scratch.files.writeFile({ path }, Buffer.from('mine'));
    expect(readFileSync(scratch.path(path), 'utf8')).toBe('mine');
    expect(scratch.outsideState).toHaveLength(2);
  },
);

test('B09: an absolute path below the root and a relative one lead to the same place', async () => {
  const { files } = scratch;
  await files.writeFile({ path: 'a' }, Buffer.from('1'));
  for (const path of [scratch.path('a'), './a', '//a'.slice(2), `${scratch.top}//./root/./a`])
    expect(await textOf(files.readFile({ path }))).toBe('1');
});

test('B09: a root that is reached through a link is known by both names', async () => {
  symlinkSync(scratch.path(''), scratch.outside('alias'));
  writeFileSync(scratch.path('a'), '1');
  const files = new LocalFileSystem({ root: scratch.outside('alias') });
  for (const path of ['a', scratch.outside('alias/a'), scratch.path('a')]) expect(await textOf(files.readFile({ path }))).toBe('1');
});

describe.each([
  ['file', 'secret'],
  ['directory', ''],
  ['missing target', 'missing'],
])('B10: a link to a %s outside', (kind, target) => {
  const text = () => (kind === 'missing target' ? `../outside/${target}` : scratch.outside(target));
  const path = kind === 'directory' ? 'link/secret' : 'link';
  const below = { path: kind === 'directory' ? 'link' : 'link/x' };

  test.each([
    ['read', () => scratch.files.readFile({ path })],
    ['write', () => scratch.files.writeFile({ path }, Buffer.from('x'))],
    [
      'write anew',
      () => scratch.files.writeFile({ path: kind === 'directory' ? 'link/new' : 'link' }, Buffer.from('x'), { if_none_match: '*' }),
    ],
    ['list', () => scratch.files.readDirectory({ path: 'link' })],
    ['metadata of the target', () => scratch.files.getMetadata({ path }, { follow_symlinks: true })],
    ['create a directory below', () => scratch.files.createDirectory({ path: 'link/new' })],
    ['create directories below', () => scratch.files.createDirectory({ path: 'link/new/x' }, { recursive: true })],
    ['copy from below', () => scratch.files.copy({ source_path: 'link/secret', destination_path: 'b' })],
    ['copy to below', () => scratch.files.copy({ source_path: 'mine', destination_path: 'link/new' })],
    ['move from below', () => scratch.files.move({ source_path: 'link/secret', destination_path: 'b' })],
    ['move to below', () => scratch.files.move({ source_path: 'mine', destination_path: 'link/new' })],
    ['remove below', () => scratch.files.remove({ path: 'link/secret' })],
  ])('is not followed: %s', async (_name, call) => {
    symlinkSync(text(), scratch.path('link'));
    writeFileSync(scratch.path('mine'), 'mine');
    const before = scratch.outsideState;
    expect(await codeOf(call())).toBe('path_outside_root');
    expect(scratch.outsideState).toEqual(before);
    expect(readFileSync(scratch.outside('secret'), 'utf8')).toBe('secret');
  });

  test('is told, copied, moved and removed as a link', async () => {
    const { files } = scratch;
    symlinkSync(text(), scratch.path('link'));
    expect(await files.getMetadata({ path: 'link' })).toMatchObject({ type: 'symlink', target: text() });
    await files.copy({ source_path: 'link', destination_path: 'copy', recursive: true });
    await files.move({ source_path: 'copy', destination_path: 'moved' });
    expect(readlinkSync(scratch.path('moved'))).toBe(text());
    expect(await files.remove({ path: 'moved' }, { recursive: true })).toEqual({ removed: true });
    expect(await files.remove(below.path === 'link' ? { path: 'link/' } : { path: 'link' }, { recursive: true })).toEqual({
      removed: true,
    });
    expect(readdirSync(scratch.path(''))).toEqual([]);
    expect(readFileSync(scratch.outside('secret'), 'utf8')).toBe('secret');
  });
});

test('B10: a link is replaced by a copy or a move, and its target left alone', async () => {
  const { files } = scratch;
  symlinkSync(scratch.outside('secret'), scratch.path('link'));
  symlinkSync(scratch.outside('secret'), scratch.path('other'));
  writeFileSync(scratch.path('mine'), 'mine');
  await files.copy({ source_path: 'mine', destination_path: 'link', overwrite: true });
  await files.move({ source_path: 'mine', destination_path: 'other', overwrite: true });
  expect([scratch.path('link'), scratch.path('other'), scratch.outside('secret')].map((path) => readFileSync(path, 'utf8'))).toEqual([
    'mine',
    'mine',
    'secret',
  ]);
});

test('B10: links that stay inside are followed: relative, absolute, and through each other', async () => {
  const { files } = scratch;
  mkdirSync(scratch.path('a/b'), { recursive: true });
  symlinkSync('../f', scratch.path('a/up'));
  symlinkSync(scratch.path('a/up'), scratch.path('a/b/absolute'));
  symlinkSync('a/b', scratch.path('dir'));
  await files.writeFile({ path: 'dir/absolute' }, Buffer.from('1'));
  expect(readFileSync(scratch.path('f'), 'utf8')).toBe('1');
  expect(await textOf(files.readFile({ path: 'dir/../b/absolute' }))).toBe('1');
  expect((await files.readDirectory({ path: 'dir' })).entries.map(({ name }) => name)).toEqual(['absolute']);
  await files.createDirectory({ path: 'dir/new/x' }, { recursive: true });
  expect(readdirSync(scratch.path('a/b'))).toContain('new');
});

test('a root that is no directory is refused at once', () => {
  const code = (root: string) => {
    try {
      return new LocalFileSystem({ root });
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  expect(code(scratch.path('missing'))).toBe('path_not_found');
  expect(code(scratch.outside('secret'))).toBe('not_a_directory');
});
