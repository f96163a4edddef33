import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CopyRequest, DirectoryEntry, ReadDirectoryOptions, RemoveOptions } from '../../src/protocol/index.js';
import { BACKENDS, useBackend } from '../support/backends.js';
import { codeOf, errorOf } from '../support/told.js';

describe.each(BACKENDS)('%s', (name) => {
  const backend = useBackend(name, { confined: true });
  const path = (below: string) => join(backend.root, below);
  const write = (below: string, content = below) => writeFileSync(path(below), content);
  const text = (below: string) => readFileSync(path(below), 'utf8');
  const names = () => readdirSync(backend.root).sort();
  const metadata = (below: string, follow_symlinks?: boolean) => backend.files.getMetadata({ path: below }, { follow_symlinks });
  const list = (below: string, options?: ReadDirectoryOptions) => backend.files.readDirectory({ path: below }, options);
  const remove = (below: string, options?: RemoveOptions) => backend.files.remove({ path: below }, options);
  const copy = (source_path: string, destination_path: string, rest: Partial<CopyRequest> = {}) =>
    backend.files.copy({ source_path, destination_path, ...rest });

  beforeEach(() => mkdirSync(path('d/e'), { recursive: true }));
  afterEach(() => {
    for (const entry of readdirSync(backend.root)) rmSync(path(entry), { recursive: true, force: true });
  });

  it('metadata of a file, a directory, a link, and what it leads to', async () => {
    write('f', 'hello');
    chmodSync(path('f'), 0o640);
    symlinkSync('f', path('link'));
    const { mtimeNs, uid, gid } = statSync(path('f'), { bigint: true });
    const file = await metadata('f');
    expect(file).toMatchObject({
      type: 'file',
      size_bytes: 5,
      mode: 0o640,
      uid: Number(uid),
      gid: Number(gid),
      target: null,
      target_base64: null,
    });
    expect([file.modified_at, file.etag]).toEqual([
      new Date(Number(mtimeNs / 1_000_000n)).toISOString(),
      expect.stringMatching(/^"[\x21\x23-\x7e]+"$/),
    ]);
    expect(await metadata('d')).toMatchObject({ type: 'directory', etag: null });
    expect(await metadata('link')).toMatchObject({ type: 'symlink', target: 'f', etag: null });
    expect(await metadata('link', true)).toEqual(file);
    expect(await errorOf(metadata('nothing'))).toMatchObject({ code: 'path_not_found', status: 404 });
    expect(await codeOf(metadata('f/x'))).toBe('not_a_directory');
  });

  it('B54 one bad entry fails nothing, and all are listed by name and type', async () => {
    write('d/file');
    symlinkSync('nowhere', path('d/dangling'));
    symlinkSync('loop', path('d/loop'));
    symlinkSync('/etc/passwd', path('d/outside'));
    execFileSync('mkfifo', [path('d/fifo')]);
    writeFileSync(Buffer.concat([Buffer.from(`${path('d')}/`), Buffer.from([0xff])]), '');
    write('d/closed');
    chmodSync(path('d/closed'), 0);
    const { entries, next_cursor } = await list('d');
    const shown = entries.map(({ name, type }) => [name, type]);
    expect(shown).toEqual([
      ['closed', 'file'],
      ['dangling', 'symlink'],
      ['e', 'directory'],
      ['fifo', 'fifo'],
      ['file', 'file'],
      ['loop', 'symlink'],
      ['outside', 'symlink'],
      ['\ufffd', 'file'],
    ]);
    expect([next_cursor, entries.at(-1)?.name_base64]).toEqual([null, '/w==']);
    expect(await codeOf(list('d/loop'))).toBe('symlink_loop');
    expect(await codeOf(list('d/outside'))).toBe('path_outside_root');
    expect(await codeOf(list('d/file'))).toBe('not_a_directory');
  });

  it('B54 many entries come in pages, each once, a directory before what it holds', async () => {
    for (let i = 0; i < 2_500; i++) write(`d/e/${i}`, '');
    const told: DirectoryEntry[] = [];
    let cursor: string | undefined;
    do {
      const page = await list('.', { depth: 3, limit: 700, cursor });
      told.push(...page.entries);
      cursor = page.next_cursor ?? undefined;
      rmSync(path(`d/e/${2_500 - told.length}`), { force: true });
    } while (cursor !== undefined);
    const paths = told.map((entry) => entry.path);
    expect([new Set(paths).size, paths.slice(0, 3)]).toEqual([paths.length, ['d', 'd/e', 'd/e/0']]);
    expect(paths.length).toBeGreaterThan(2_490);
    expect((await list('.', { depth: 1 })).entries.map((entry) => entry.path)).toEqual(['d']);
    for (const bad of ['x', '%', 'Li4=']) expect(await codeOf(list('.', { cursor: bad }))).toBe('invalid_cursor');
    expect(await errorOf(list('.', { cursor: '' }))).toMatchObject({ code: 'invalid_cursor' });
  });

  it('directories are made, once or with those above', async () => {
    expect(await backend.files.createDirectory({ path: 'new' }, { mode: 0o750 })).toMatchObject({
      created: true,
      metadata: { type: 'directory', mode: 0o750 },
    });
    expect(await codeOf(backend.files.createDirectory({ path: 'new' }))).toBe('path_exists');
    expect(await codeOf(backend.files.createDirectory({ path: 'x/y' }))).toBe('path_not_found');
    expect(await backend.files.createDirectory({ path: 'x/y/z' }, { recursive: true })).toMatchObject({ created: true });
    expect(await backend.files.createDirectory({ path: 'x/y/z' }, { recursive: true })).toMatchObject({ created: false });
    expect(names()).toEqual(['d', 'new', 'x']);
  });

  it('B30 links go and not what they lead to; the root stays; what is missing is told, or forced', async () => {
    write('f');
    write('d/e/inside');
    symlinkSync('d', path('link'));
    symlinkSync('/etc', path('out'));
    for (const link of ['link', 'out/']) expect(await remove(link, { recursive: true })).toEqual({ removed: true });
    expect([text('d/e/inside'), existsSync('/etc/passwd'), names()]).toEqual(['d/e/inside', true, ['d', 'f']]);
    for (const root of ['.', './', backend.root, `${backend.root}/`, `${backend.root}/.`, 'd/..']) {
      expect(await errorOf(remove(root, { recursive: true, force: true }))).toMatchObject({ code: 'root_protected', status: 403 });
    }
    expect(await codeOf(remove('', { recursive: true }))).toBe('invalid_path');
    expect(await codeOf(remove('/', { recursive: true }))).toBe('path_outside_root');
    expect(await codeOf(remove('d'))).toBe('directory_not_empty');
    expect(await codeOf(remove('missing'))).toBe('path_not_found');
    expect(await remove('missing', { force: true })).toEqual({ removed: false });
    symlinkSync('/etc', path('d/e/out'));
    expect(await remove('d', { recursive: true })).toEqual({ removed: true });
    expect([names(), existsSync('/etc/passwd')]).toEqual([['f'], true]);
  });

  it('only the file that is meant is removed; of all who change it under one etag, one gets through', async () => {
    for (let round = 0; round < 5; round++) {
      write('f', 'one');
      const if_match = (await metadata('f')).etag as string;
      const changes = Array.from({ length: 8 }, (_, i) =>
        i % 2 ? remove('f', { if_match }) : backend.files.writeFile({ path: 'f' }, Buffer.from('two'), { if_match }),
      );
      const outcomes = await Promise.allSettled(changes);
      const [won, ...more] = outcomes.filter((outcome) => outcome.status === 'fulfilled');
      expect([won, more]).toEqual([expect.anything(), []]);
      expect(names().includes('f')).toBe(!('removed' in (won?.value ?? {})));
      // Whoever comes after a removal finds nothing.
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(['precondition_failed', 'path_not_found']).toContain(outcome.reason.code);
      }
    }
    write('f', 'three');
    const { etag } = await metadata('f');
    const other = { if_match: ['"1"', '"2"'] };
    expect(await errorOf(remove('f', { ...other, recursive: true, force: true }))).toMatchObject({
      code: 'precondition_failed',
      status: 412,
      fields: { etag },
    });
    expect(text('f')).toBe('three');
    expect(await remove('f', { if_match: ['"1"', etag as string] })).toEqual({ removed: true });
    expect(await codeOf(remove('f', { if_match: '*' }))).toBe('path_not_found');
    expect(await remove('f', { ...other, force: true })).toEqual({ removed: false });
    symlinkSync('d', path('link'));
    for (const entry of ['link', 'd']) {
      expect(await codeOf(remove(entry, { ...other, recursive: true }))).toBe('precondition_failed');
      expect(await remove(entry, { if_match: '*', recursive: true })).toEqual({ removed: true });
    }
  });

  it('B41 nothing is copied into itself, and what is there stays unless it may be replaced', async () => {
    write('d/f');
    write('f');
    for (const target of ['d/e/c', 'd/c']) expect(await codeOf(copy('d', target, { recursive: true }))).toBe('copy_into_itself');
    expect(await codeOf(copy('d', 'd', { recursive: true, overwrite: true }))).toBe('copy_into_itself');
    expect(await errorOf(copy('f', 'd/f'))).toMatchObject({ code: 'path_exists', status: 409 });
    expect(await codeOf(copy('d', 'new'))).toBe('is_a_directory');
    expect(await codeOf(copy('missing', 'new'))).toBe('path_not_found');
    expect([names(), readdirSync(path('d')).sort(), readdirSync(path('d/e'))]).toEqual([['d', 'f'], ['e', 'f'], []]);
    expect(await copy('f', 'd/f', { overwrite: true })).toEqual({ files: 1, directories: 0, bytes: 1, skipped: [] });
    expect(text('d/f')).toBe('f');
  });

  it('B28 a tree is copied with its links and modes, and tells the special files it left out', async () => {
    write('d/script');
    chmodSync(path('d/script'), 0o755);
    symlinkSync('../nowhere', path('d/e/link'));
    execFileSync('mkfifo', [path('d/e/fifo')]);
    expect(await copy('d', 'c', { recursive: true })).toEqual({ files: 2, directories: 2, bytes: 8, skipped: ['e/fifo'] });
    expect([text('c/script'), statSync(path('c/script')).mode & 0o777, readlinkSync(path('c/e/link'))]).toEqual([
      'd/script',
      0o755,
      '../nowhere',
    ]);
    expect(await codeOf(copy('d/e/fifo', 'x'))).toBe('not_regular_file');
  });

  it('moves: files, trees and links; what is there stays unless it may be replaced', async () => {
    const move = (source_path: string, destination_path: string, overwrite?: boolean) =>
      backend.files.move({ source_path, destination_path, ...(overwrite === undefined ? {} : { overwrite }) });
    write('d/f');
    write('g');
    await move('d', 'moved');
    expect([text('moved/f'), names()]).toEqual(['d/f', ['g', 'moved']]);
    expect(await codeOf(move('g', 'moved/f'))).toBe('path_exists');
    await move('g', 'moved/f', true);
    expect([text('moved/f'), names()]).toEqual(['g', ['moved']]);
    expect(await codeOf(move('moved', 'moved/e/x'))).toBe('copy_into_itself');
    expect(await codeOf(move('missing', 'x'))).toBe('path_not_found');
    expect(await codeOf(move('.', 'x'))).toBe('root_protected');
    const odd = Buffer.concat([Buffer.from(`${backend.root}/`), Buffer.from([0xfe])]);
    await backend.files.move({ source_path: 'moved/f', destination_path_base64: odd.toString('base64') });
    expect(readFileSync(odd, 'utf8')).toBe('g');
  });
});
