import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DirectoryEntry, FilePath, ReadDirectoryOptions } from '../../src/protocol/index.js';
import { codeOf, ROOTS, Scratch } from './scratch.js';

describe.each(ROOTS)('%s', (kind) => {
  const scratch = new Scratch(kind);

  /** All pages together. */
  async function all(path: FilePath, options: ReadDirectoryOptions): Promise<DirectoryEntry[]> {
    const entries: DirectoryEntry[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await scratch.files.readDirectory(path, { ...options, cursor });
      expect(page.entries.length).toBeLessThanOrEqual(options.limit ?? 1000);
      entries.push(...page.entries);
      if (page.next_cursor === null) return entries;
      cursor = page.next_cursor;
    }
  }

  test('B54: one bad entry fails nothing: dangling, circular and outward links, mode 000, sockets, fifos', async () => {
    symlinkSync('missing', scratch.path('dangling'));
    symlinkSync('loop', scratch.path('loop'));
    symlinkSync(scratch.outside(''), scratch.path('out'));
    writeFileSync(scratch.path('closed'), '', { mode: 0 });
    mkdirSync(scratch.path('directory'), { mode: 0 });
    execFileSync('mkfifo', [scratch.path('fifo')]);
    const server = createServer().listen(scratch.path('socket'));
    const { entries, next_cursor } = await scratch.files.readDirectory(scratch.at('.'), { depth: 2 });
    expect(next_cursor).toBeNull();
    expect(Object.fromEntries(entries.map(({ name, type }) => [name, type]))).toEqual({
      dangling: 'symlink',
      loop: 'symlink',
      out: 'symlink',
      closed: 'file',
      directory: 'directory',
      fifo: 'fifo',
      socket: 'socket',
    });
    expect(entries.find(({ name }) => name === 'dangling')).toMatchObject({
      path: 'dangling',
      error: null,
      metadata: { target: 'missing' },
    });
    await new Promise((resolve) => server.close(resolve));
  });

  test('B54: names that are not UTF-8 are told as base64, sorted by their bytes', async () => {
    const names = [[0xff], [0x41], [0xc3, 0xa9], [0x61], [0xc3], [0xef, 0xbf, 0xbd]].map((bytes) => Buffer.from(bytes));
    mkdirSync(Buffer.concat([Buffer.from(scratch.path('d/')), Buffer.from([0xff])]), { recursive: true });
    for (const name of names) writeFileSync(Buffer.concat([Buffer.from(scratch.path('d/')), Buffer.from([0xff, 0x2f]), name]), '');
    const entries = await all(scratch.at('d'), { depth: 2, limit: 2 });
    const byBytes = names.sort(Buffer.compare);
    expect(entries.slice(1).map(({ name_base64, name }) => name_base64 ?? Buffer.from(name).toString('base64'))).toEqual(
      byBytes.map((name) => name.toString('base64')),
    );
    expect(entries[0]).toMatchObject({ name: '\ufffd', name_base64: '/w==', path: '\ufffd', path_base64: '/w==' });
    expect(entries[1]).toMatchObject({ name: 'A', name_base64: null, path: '\ufffd/A', path_base64: '/y9B' });
  });

  test('B54: 10,000 entries come in pages, quickly; what is removed between or in them is left out', async () => {
    mkdirSync(scratch.path('big'));
    const names = Array.from({ length: 10_000 }, (_, i) => `entry-${i}`);
    for (const name of names) writeFileSync(scratch.path(`big/${name}`), '');
    const start = performance.now();
    const one = await scratch.files.readDirectory(scratch.at('big'), { limit: 10_000 });
    expect(performance.now() - start).toBeLessThan(5000);
    expect(one.next_cursor).toBeNull();
    expect(one.entries.map(({ name }) => name)).toEqual(names.sort());
    const first = await scratch.files.readDirectory(scratch.at('big'), { limit: 10 });
    for (const name of names.slice(5, 15)) rmSync(scratch.path(`big/${name}`));
    const second = await scratch.files.readDirectory(scratch.at('big'), { limit: 10, cursor: first.next_cursor as string });
    expect(second.entries.map(({ name }) => name)).toEqual(names.slice(15, 25));
    const listings = Promise.allSettled(Array.from({ length: 4 }, () => all(scratch.at('big'), { limit: 1000 })));
    rmSync(scratch.path('big'), { recursive: true });
    for (const listing of await listings) {
      if (listing.status === 'fulfilled') expect(listing.value.filter(({ error }) => error !== null)).toEqual([]);
      else expect(listing.reason).toMatchObject({ code: 'path_not_found' });
    }
  });

  test('a tree is told a directory before what it holds, to the depth asked for; links are not entered', async () => {
    for (const name of ['a/b/c', 'a-b']) mkdirSync(scratch.path(name), { recursive: true });
    for (const name of ['a/b/c/f', 'a/x', 'a.b']) writeFileSync(scratch.path(name), '');
    symlinkSync('../a-b', scratch.path('a/link'));
    const paths = async (depth: number, limit: number) => (await all(scratch.at('.'), { depth, limit })).map(({ path }) => path);
    for (const limit of [1, 2, 3, 100]) {
      expect(await paths(1, limit)).toEqual(['a', 'a-b', 'a.b']);
      expect(await paths(2, limit)).toEqual(['a', 'a/b', 'a/link', 'a/x', 'a-b', 'a.b']);
      expect(await paths(64, limit)).toEqual(['a', 'a/b', 'a/b/c', 'a/b/c/f', 'a/link', 'a/x', 'a-b', 'a.b']);
    }
  });

  test('pages of any size give every entry once, in one order', async () => {
    const segment = fc.constantFrom('a', 'b', 'a-', 'a.', 'ab', '\xff', 'A');
    const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(path, { maxLength: 12 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 5 }),
        async (paths, limit, depth) => {
          const top = `round-${round++}`;
          const expected = new Map<string, string[]>();
          for (const found of paths) {
            mkdirSync(Buffer.from(scratch.path(`${top}/${found}`), 'latin1'), { recursive: true });
            const names = found.split('/').slice(0, depth);
            for (let i = 1; i <= names.length; i++) expected.set(names.slice(0, i).join('/'), names.slice(0, i));
          }
          if (paths.length === 0) mkdirSync(scratch.path(top));
          const order = [...expected].sort(([, a], [, b]) => compareNames(a, b)).map(([name]) => name);
          const got = (await all(scratch.at(top), { limit, depth })).map((entry) =>
            entry.path_base64 ? Buffer.from(entry.path_base64, 'base64').toString('latin1') : entry.path,
          );
          expect(got).toEqual(order);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('only cursors that were given out are taken, and none leads anywhere', async () => {
    mkdirSync(scratch.path('a/b'), { recursive: true });
    for (const cursor of ['..', '../outside', 'a/../..', '/', 'a//b', './a', '', 'a\0'].map((path) =>
      Buffer.from(path).toString('base64url'),
    )) {
      expect(await codeOf(scratch.files.readDirectory(scratch.at('a'), { cursor, depth: 3 }))).toBe('invalid_cursor');
    }
    expect(await codeOf(scratch.files.readDirectory(scratch.at('a'), { cursor: 'not base64!' }))).toBe('invalid_cursor');
  });

  test('what is no directory cannot be listed; a link to one can; an abort ends it', async () => {
    const { files } = scratch;
    writeFileSync(scratch.path('f'), '');
    mkdirSync(scratch.path('d'));
    symlinkSync('d', scratch.path('link'));
    symlinkSync('f', scratch.path('file-link'));
    for (const path of ['f', 'f/', 'file-link']) expect(await codeOf(files.readDirectory(scratch.at(path)))).toBe('not_a_directory');
    expect(await codeOf(files.readDirectory(scratch.at('missing')))).toBe('path_not_found');
    expect(await files.readDirectory(scratch.at('link'))).toEqual({ entries: [], next_cursor: null });
    for (let i = 0; i < 500; i++) writeFileSync(scratch.path(`d/${i}`), '');
    const abort = new AbortController();
    const listing = files.readDirectory(scratch.at('d'), { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(listing).rejects.toThrow('enough');
  });
});

/** The order of trees: name by name, each by its bytes. */
function compareNames(a: string[], b: string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] !== b[i]) return (a[i] as string) < (b[i] as string) ? -1 : 1;
  }
  return a.length - b.length;
}
