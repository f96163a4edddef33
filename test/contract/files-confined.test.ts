import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BACKENDS, useBackend } from '../support/backends.js';
import { bytesOf } from '../support/file-bytes.js';
import { codeOf, errorOf, readAll } from '../support/told.js';

describe.each(BACKENDS)('%s', (name) => {
  const backend = useBackend(name, { confined: true, confine_cwd: true });
  const outside = (below = '') => join(`${backend.root}-evil`, below);
  const path = (below: string) => join(backend.root, below);

  beforeEach(() => {
    mkdirSync(outside('dir'), { recursive: true });
    writeFileSync(outside('x'), 'secret');
    mkdirSync(path('a'), { recursive: true });
    writeFileSync(path('mine'), 'mine');
  });
  afterEach(() => {
    rmSync(outside(), { recursive: true });
    for (const entry of readdirSync(backend.root)) rmSync(path(entry), { recursive: true, force: true });
  });

  /** Every call on a path, by name. */
  const calls = (at: string): Record<string, () => Promise<unknown>> => ({
    read: () => backend.files.readFile({ path: at }),
    write: () => backend.files.writeFile({ path: at }, Buffer.from('evil')),
    'write with parents': () => backend.files.writeFile({ path: `${at}/p/q` }, Buffer.from('evil'), { create_parents: true }),
    metadata: () => backend.files.getMetadata({ path: at }, { follow_symlinks: true }),
    list: () => backend.files.readDirectory({ path: at }),
    'make a directory': () => backend.files.createDirectory({ path: `${at}/new` }, { recursive: true }),
    'copy from': () => backend.files.copy({ source_path: `${at}/x`, destination_path: 'taken' }),
    'copy to': () => backend.files.copy({ source_path: 'mine', destination_path: `${at}/new`, overwrite: true }),
    'move from': () => backend.files.move({ source_path: `${at}/x`, destination_path: 'taken' }),
    'move to': () => backend.files.move({ source_path: 'mine', destination_path: `${at}/new`, overwrite: true }),
    remove: () => backend.files.remove({ path: `${at}/x` }, { recursive: true, force: true }),
    'start there': () => backend.start(['pwd'], { cwd: at }),
  });

  async function expectAllRefused(at: string): Promise<void> {
    for (const [call, make] of Object.entries(calls(at))) {
      expect(await errorOf(make()), `${call} ${at}`).toMatchObject({ code: 'path_outside_root', status: 403 });
    }
    expect([readdirSync(outside()).sort(), readdirSync(outside('dir')), readFileSync(outside('x'), 'utf8')]).toEqual([
      ['dir', 'x'],
      [],
      'secret',
    ]);
    expect(
      readdirSync(backend.root)
        .filter((entry) => entry !== 'link')
        .sort(),
    ).toEqual(['a', 'mine']);
  }

  it('B09 no path leads out, however it is written', async () => {
    for (const at of [
      '..',
      '../root-evil',
      'a/../../root-evil',
      './a/.././../root-evil',
      outside(),
      `${backend.root}/../root-evil`,
      '/',
      '/etc',
    ]) {
      await expectAllRefused(at);
    }
  });

  it('B09 text that is encoded twice, or for another system, is a plain name', async () => {
    for (const at of ['..%2fx', '..%2f..%2fx', '%2e%2e%2fx', '%252e%252e%252fx', '..\\x', '...']) {
      await backend.files.writeFile({ path: at }, Buffer.from(at));
      expect(readFileSync(path(at), 'utf8')).toBe(at);
      expect(String(await bytesOf(await backend.files.readFile({ path: at })))).toBe(at);
      expect(await backend.files.remove({ path: at })).toEqual({ removed: true });
    }
    expect(readdirSync(outside()).sort()).toEqual(['dir', 'x']);
  });

  it.each([
    ['an absolute link', () => outside()],
    ['a relative link', () => '../root-evil'],
    ['a link over the root', () => `${backend.root}/../root-evil`],
  ])('B10 %s is not followed out', async (_kind, target) => {
    symlinkSync(target(), path('link'));
    await expectAllRefused('link');
    expect(await backend.files.getMetadata({ path: 'link' })).toMatchObject({ type: 'symlink', target: target() });
    expect(await backend.files.remove({ path: 'link' }, { recursive: true })).toEqual({ removed: true });
    expect(readdirSync(outside()).sort()).toEqual(['dir', 'x']);
  });

  it('B10 a link to a file outside is neither read nor replaced', async () => {
    symlinkSync(outside('x'), path('link'));
    expect(await codeOf(backend.files.readFile({ path: 'link' }))).toBe('path_outside_root');
    expect(await codeOf(backend.files.writeFile({ path: 'link' }, Buffer.from('evil')))).toBe('path_outside_root');
    expect(readFileSync(outside('x'), 'utf8')).toBe('secret');
  });

  it('B09 working directories obey the root: none is the root, a relative one starts there, a link inside is followed', async () => {
    symlinkSync('a', path('to-a'));
    const cwds: [string | undefined, string][] = [
      [undefined, ''],
      ['a', 'a'],
      ['to-a', 'a'],
      [path('a'), 'a'],
      ['.', ''],
    ];
    for (const [cwd, below] of cwds) {
      const info = await backend.start(['pwd'], cwd === undefined ? {} : { cwd });
      expect(info.cwd).toBe(path(below).replace(/\/$/, ''));
      expect((await readAll(backend.process, info.process_id)).text().trim()).toBe(info.cwd);
    }
    for (const cwd of ['nothing', 'mine']) {
      expect((await errorOf(backend.start(['pwd'], { cwd }))).code).toMatch(/^cwd_not/);
    }
    expect(await errorOf(backend.start(['pwd'], { cwd: '../nothing' }))).toMatchObject({
      code: 'path_outside_root',
      fields: { field: 'cwd' },
    });
  });
});
