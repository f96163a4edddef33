import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codeOf, litter, ROOTS, Scratch } from './scratch.js';

const NOBODY = 65_534;
const X = Buffer.from('x');

/** Needs the right to mount: the failure says how to get it. */
function mount(...args: string[]): void {
  try {
    execFileSync('mount', args);
  } catch (cause) {
    throw new Error('This test mounts small file systems: run it as root, in a container with CAP_SYS_ADMIN, or under `unshare -rm`.', {
      cause,
    });
  }
}

/** Runs a call as a user without rights. All threads of the process change their user (setuid(2), nptl(7)). */
async function asNobody<T>(call: () => Promise<T>): Promise<T> {
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return await call();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}

describe.each(ROOTS)('%s', (kind) => {
  const scratch = new Scratch(kind);
  const mounted: string[] = [];

  function mountAt(name: string, ...args: string[]): void {
    mkdirSync(scratch.path(name));
    mount(...args, scratch.path(name));
    mounted.push(scratch.path(name));
  }

  beforeEach(() => chmodSync(scratch.top, 0o755));

  // Before the directories of the test are removed: hooks run in reverse order.
  afterEach(() => {
    for (const path of mounted.splice(0).reverse()) execFileSync('umount', [path]);
  });

  test('a full file system is no_space, and keeps the old file and no litter', async () => {
    mountAt('full', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs');
    writeFileSync(scratch.path('full/old'), 'old');
    writeFileSync(scratch.path('large'), Buffer.alloc(4 * 1024 ** 2, 1));
    const { files } = scratch;
    let stopped = 0;
    async function* large() {
      try {
        for (let i = 0; i < 100; i++) yield Buffer.alloc(100_000, 1);
      } finally {
        stopped++;
      }
    }
    for (const name of ['full/old', 'full/new']) {
      const refused = files.writeFile(scratch.at(name), large());
      await expect(refused).rejects.toMatchObject({ code: 'no_space', status: 507, message: expect.not.stringContaining('/proc/') });
    }
    expect(stopped).toBe(2);
    const copy = { source_path: scratch.path('large'), overwrite: true };
    expect(await codeOf(files.copy({ ...copy, destination_path: scratch.path('full/new') }))).toBe('no_space');
    mkdirSync(scratch.path('tree'));
    writeFileSync(scratch.path('tree/large'), Buffer.alloc(4 * 1024 ** 2, 1));
    expect(
      await codeOf(files.copy({ source_path: scratch.path('tree'), destination_path: scratch.path('full/tree'), recursive: true })),
    ).toBe('no_space');
    expect(readdirSync(scratch.path('full'))).toEqual(['old']);
    expect(readFileSync(scratch.path('full/old'), 'utf8')).toBe('old');
    await files.writeFile(scratch.at('full/old'), Buffer.alloc(500_000));
  });

  test('a full table of names is no_space', async () => {
    mountAt('full', '-t', 'tmpfs', '-o', 'nr_inodes=4', 'tmpfs');
    const { files } = scratch;
    const codes: unknown[] = [];
    for (let i = 0; i < 6; i++) codes.push(await codeOf(files.createDirectory(scratch.at(`full/${i}`)).then(() => 'made')));
    expect(codes.at(-1)).toBe('no_space');
    expect(await codeOf(files.writeFile(scratch.at('full/f'), X))).toBe('no_space');
  });

  test('a read-only file system is read_only_file_system', async () => {
    mountAt('ro', '-t', 'tmpfs', 'tmpfs');
    mkdirSync(scratch.path('ro/d/e'), { recursive: true });
    writeFileSync(scratch.path('ro/f'), 'old');
    writeFileSync(scratch.path('f'), 'new');
    mount('-o', 'remount,ro', scratch.path('ro'));
    const { files } = scratch;
    const to = (name: string) => ({ source_path: scratch.path('f'), destination_path: scratch.path(name), overwrite: true });
    const calls = [
      files.writeFile(scratch.at('ro/f'), X),
      files.writeFile(scratch.at('ro/new'), X),
      files.writeFile(scratch.at('ro/a/b/new'), X, { create_parents: true }),
      files.createDirectory(scratch.at('ro/new')),
      files.createDirectory(scratch.at('ro/new/x'), { recursive: true }),
      files.remove(scratch.at('ro/f')),
      files.remove(scratch.at('ro/d'), { recursive: true }),
      files.copy(to('ro/new')),
      files.copy(to('ro/f')),
      files.copy({ source_path: scratch.path('ro/d'), destination_path: scratch.path('ro/copy'), recursive: true }),
      files.move({ source_path: scratch.path('ro/f'), destination_path: scratch.path('ro/g') }),
    ];
    expect(new Set(await Promise.all(calls.map(codeOf)))).toEqual(new Set(['read_only_file_system']));
    expect(await files.createDirectory(scratch.at('ro/d/e'), { recursive: true })).toMatchObject({ created: false });
    expect(readFileSync(scratch.path('ro/f'), 'utf8')).toBe('old');
  });

  test('a move to another file system is cross_device, and changes nothing; a copy goes', async () => {
    mountAt('other', '-t', 'tmpfs', 'tmpfs');
    mkdirSync(scratch.path('d'));
    mkdirSync(scratch.path('other/d'));
    for (const name of ['f', 'd/f', 'other/f', 'other/d/g']) writeFileSync(scratch.path(name), name);
    const { files } = scratch;
    for (const overwrite of [false, true]) {
      for (const name of ['f', 'd']) {
        const move = files.move({
          source_path: scratch.path(name),
          destination_path: scratch.path(`other/${overwrite ? name : `new-${name}`}`),
          overwrite,
        });
        expect(await codeOf(move)).toBe('cross_device');
      }
    }
    expect(readdirSync(scratch.path('other'), { recursive: true }).sort()).toEqual(['d', 'd/g', 'f']);
    await files.copy({ source_path: scratch.path('d'), destination_path: scratch.path('other/copy'), recursive: true });
    expect(readFileSync(scratch.path('other/copy/f'), 'utf8')).toBe('d/f');
  });

  test('what is mounted is busy, and the root is not removed through another mount of it', async () => {
    mountAt('mnt', '-t', 'tmpfs', 'tmpfs');
    const { files } = scratch;
    expect(await codeOf(files.remove(scratch.at('mnt'), { recursive: true }))).toBe('file_busy');
    expect(await codeOf(files.move({ source_path: scratch.path('mnt'), destination_path: scratch.path('new') }))).toBe('file_busy');
    mountAt('again', '--bind', scratch.path(''));
    writeFileSync(scratch.path('f'), 'kept');
    if (kind === 'below a root') expect(await codeOf(files.remove(scratch.at('again'), { recursive: true }))).toBe('root_protected');
    expect(
      await codeOf(files.copy({ source_path: scratch.path('.'), destination_path: scratch.path('again/copy'), recursive: true })),
    ).toBe('copy_into_itself');
    expect(readFileSync(scratch.path('f'), 'utf8')).toBe('kept');
  });

  test('B54 B56: what the system does not permit is access_denied, and changes nothing', async () => {
    for (const name of ['closed', 'locked', 'open', 'listed']) mkdirSync(scratch.path(name));
    for (const name of ['closed/f', 'locked/f', 'open/closed', 'listed/f']) writeFileSync(scratch.path(name), 'old', { mode: 0o600 });
    chmodSync(scratch.path('closed'), 0);
    // The directory may be entered and not written, the file in it may be written: replacing it is refused, the old content stays.
    chmodSync(scratch.path('locked'), 0o755);
    chmodSync(scratch.path('locked/f'), 0o666);
    chmodSync(scratch.path('open'), 0o777);
    chmodSync(scratch.path('listed'), 0o744);
    const { files } = scratch;
    const codes = await asNobody(async () => [
      await codeOf(files.readFile(scratch.at('open/closed'))),
      await codeOf(files.readFile(scratch.at('closed/f'))),
      await codeOf(files.getMetadata(scratch.at('closed/f'))),
      await codeOf(files.readDirectory(scratch.at('closed'))),
      await codeOf(files.writeFile(scratch.at('locked/f'), X)),
      await codeOf(files.writeFile(scratch.at('locked/new'), X)),
      await codeOf(files.writeFile(scratch.at('locked/a/new'), X, { create_parents: true })),
      await codeOf(files.createDirectory(scratch.at('locked/new'))),
      await codeOf(files.remove(scratch.at('locked/f'))),
      await codeOf(files.remove(scratch.at('locked'), { recursive: true })),
      await codeOf(files.copy({ source_path: scratch.path('open/closed'), destination_path: scratch.path('open/copy') })),
      await codeOf(files.copy({ source_path: scratch.path('open'), destination_path: scratch.path('open-copy'), recursive: true })),
      await codeOf(files.move({ source_path: scratch.path('locked/f'), destination_path: scratch.path('open/f') })),
      await codeOf(files.move({ source_path: scratch.path('locked/f'), destination_path: scratch.path('open/f'), overwrite: true })),
    ]);
    expect(codes).toEqual(codes.map(() => 'access_denied'));
    expect(readFileSync(scratch.path('locked/f'), 'utf8')).toBe('old');
    expect(readdirSync(scratch.path('open'))).toEqual(['closed']);
    const { entries } = await asNobody(() => files.readDirectory(scratch.at('.'), { depth: 2 }));
    expect(entries.map(({ path, type, error }) => [path, type, error])).toEqual([
      ['closed', 'directory', 'access_denied'],
      ['listed', 'directory', null],
      ['listed/f', null, 'access_denied'],
      ['locked', 'directory', null],
      ['locked/f', 'file', null],
      ['open', 'directory', null],
      ['open/closed', 'file', null],
    ]);
  });

  test("another's file can be replaced where its directory allows it; set-id bits go with the owner that cannot be kept", async () => {
    mkdirSync(scratch.path('open'));
    chmodSync(scratch.path('open'), 0o777);
    writeFileSync(scratch.path('open/f'), 'old');
    chmodSync(scratch.path('open/f'), 0o6755);
    const stored = await asNobody(() => scratch.files.writeFile(scratch.at('open/f'), Buffer.from('new')));
    expect(stored.metadata).toMatchObject({ mode: 0o755, uid: NOBODY });
    expect(readFileSync(scratch.path('open/f'), 'utf8')).toBe('new');
  });

  test("another's files are moved without a second name, which the system may not grant, and trees that failed are cleaned up", async () => {
    mkdirSync(scratch.path('open'));
    chmodSync(scratch.path('open'), 0o777);
    writeFileSync(scratch.path('open/f'), 'content', { mode: 0o600 });
    const { files } = scratch;
    await asNobody(() => files.move({ source_path: scratch.path('open/f'), destination_path: scratch.path('open/g') }));
    expect(readFileSync(scratch.path('open/g'), 'utf8')).toBe('content');
    mkdirSync(scratch.path('tree/a'), { recursive: true });
    mkdirSync(scratch.path('tree/b'));
    writeFileSync(scratch.path('tree/b/closed'), '', { mode: 0o600 });
    for (const name of ['a', 'b']) {
      writeFileSync(scratch.path(`tree/${name}/f`), name);
      chmodSync(scratch.path(`tree/${name}`), 0o555);
    }
    const copy = () => files.copy({ source_path: scratch.path('tree'), destination_path: scratch.path('open/tree'), recursive: true });
    expect(await asNobody(() => codeOf(copy()))).toBe('access_denied');
    expect(readdirSync(scratch.path('open'))).toEqual(['g']);
    chmodSync(scratch.path('tree/b/closed'), 0o444);
    expect(await asNobody(copy)).toMatchObject({ files: 3, directories: 3 });
    expect(litter(scratch.path('open'))).toEqual([]);
  });

  test('names and paths that are too long are path_too_long', async () => {
    const { files } = scratch;
    const name = 'n'.repeat(256);
    const calls = [
      files.readFile(scratch.at(name)),
      files.writeFile(scratch.at(name), X),
      files.writeFile(scratch.at(`${name}/x`), X, { create_parents: true }),
      files.getMetadata(scratch.at(`${name}/x`)),
      files.readDirectory(scratch.at(name)),
      files.createDirectory(scratch.at(name)),
      files.remove(scratch.at(name)),
      files.copy({ source_path: scratch.path('f'), destination_path: scratch.path(name) }),
      files.readFile(scratch.at('x/'.repeat(2100))),
    ];
    writeFileSync(scratch.path('f'), '');
    expect(new Set(await Promise.all(calls.map(codeOf)))).toEqual(new Set(['path_too_long']));
  });
});
