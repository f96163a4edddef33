import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { useCodex } from './use-codex.js';

const codex = useCodex();
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('URIs', () => {
  test.each([
    ['a native path', '/tmp', -32602],
    ['nothing', '', -32602],
    ['a number', 5, -32602],
    ['another scheme', 'http://x/a', -32602],
    ['another host', 'file://other/a', -32600],
    ['a zero byte', 'file:///a%00b', -32602],
    ['a query', 'file:///tmp?x', -32602],
    ['a fragment', 'file:///tmp#x', -32602],
    ['this host by its name', 'file://localhost/tmp', 0],
    ['a scheme in capitals', 'FILE:///tmp', 0],
    ['a slash at the end', 'file:///etc/passwd/', 0],
    ['.. by the rules of URIs', 'file:///no/such/../../tmp', 0],
    ['a percent sign that is none', 'file:///%zz', -32004],
  ])('%s', async (_what, path, code) => {
    await using client = await codex.ready();
    expect(await client.code('fs/getMetadata', { path })).toBe(code);
  });

  test.each(['a b', 'ümläut', '100%', 'que?stion', 'ha#sh', 'semi;colon', 'back\\slash', 'new\nline'])('a file named %j', async (name) => {
    await using client = await codex.ready();
    writeFileSync(codex.path(name), 'x');
    const path = `file://${codex.path()}/${encodeURIComponent(name)}`;
    expect(await client.result('fs/readFile', { path })).toEqual({ dataBase64: base64('x') });
    const { path: told } = await client.result('fs/canonicalize', { path });
    expect(new URL(told).pathname.split('/').map(decodeURIComponent).join('/')).toBe(codex.path(name));
  });

  test('a name that is not UTF-8', async () => {
    await using client = await codex.ready();
    const path = `file://${codex.path()}/%ff%fe`;
    await client.result('fs/writeFile', { path, dataBase64: base64('x') });
    expect(await client.result('fs/readFile', { path })).toEqual({ dataBase64: base64('x') });
    expect((await client.result('fs/canonicalize', { path })).path).toBe(`file://${codex.path()}/%FF%FE`);
    await client.result('fs/remove', { path });
  });
});

describe('whole files', () => {
  test.each([0, 1, 2, 3, 1024 * 1024, 1024 * 1024 + 1, 20_000_003, 40_000_000])('of %i bytes are written and read', async (size) => {
    await using client = await codex.ready();
    const bytes = randomBytes(size);
    const path = codex.uri('whole');
    await client.result('fs/writeFile', { path, dataBase64: bytes.toString('base64') });
    expect(readFileSync(codex.path('whole')).equals(bytes)).toBe(true);
    const { dataBase64 } = await client.result('fs/readFile', { path });
    expect(Buffer.from(dataBase64, 'base64').equals(bytes)).toBe(true);
  });

  test('other calls are answered around a large read, and no frame is large', async () => {
    await using client = await codex.ready();
    writeFileSync(codex.path('large'), randomBytes(30_000_000));
    const large = [1, 2, 3].map(() => client.result('fs/readFile', { path: codex.uri('large') }));
    const small = [1, 2, 3, 4].map(() => client.result('environment/status'));
    for (const answer of await Promise.all(large)) expect(answer.dataBase64).toHaveLength(40_000_000);
    for (const answer of await Promise.all(small)) expect(answer).toEqual({ status: 'ready' });
  });

  test('what cannot be read', async () => {
    await using client = await codex.ready();
    expect(await client.code('fs/readFile', { path: codex.uri() })).toBe(-32600);
    expect(await client.code('fs/readFile', { path: 'file:///dev/zero' })).toBe(-32600);
    expect(await client.code('fs/readFile', { path: codex.uri('none') })).toBe(-32004);
    expect(await client.code('fs/writeFile', { path: codex.uri('none/x'), dataBase64: '' })).toBe(-32004);
    expect(await client.code('fs/writeFile', { path: codex.uri('x'), dataBase64: 'aGk' })).toBe(-32600);
    expect(await client.code('fs/writeFile', { path: codex.uri(), dataBase64: '' })).toBe(-32603);
    expect(
      Buffer.from((await client.result('fs/readFile', { path: 'file:///proc/self/comm' })).dataBase64, 'base64').length,
    ).toBeGreaterThan(0);
  });
});

describe('files in blocks', () => {
  test('are written in any order and take their place at the end', async () => {
    await using client = await codex.ready();
    writeFileSync(codex.path('kept'), 'old');
    chmodSync(codex.path('kept'), 0o750);
    await client.result('fs/open', { handleId: 'w', path: codex.uri('kept'), mode: 'replace' });
    await client.result('fs/writeBlock', { handleId: 'w', offset: 5, chunk: base64('world') });
    await client.result('fs/writeBlock', { handleId: 'w', offset: 0, chunk: base64('hello') });
    expect(readFileSync(codex.path('kept'), 'utf8')).toBe('old');
    await client.result('fs/close', { handleId: 'w' });
    expect(readFileSync(codex.path('kept'), 'utf8')).toBe('helloworld');
    expect(await client.code('fs/writeBlock', { handleId: 'w', offset: 0, chunk: '' })).toBe(-32004);
  });

  test('without a close nothing changes, and nothing is left', async () => {
    const spools = () => readdirSync(tmpdir()).filter((name) => name.startsWith('exec-gateway-'));
    const before = spools();
    const client = await codex.ready();
    writeFileSync(codex.path('whole'), 'old');
    await client.result('fs/open', { handleId: 'w', path: codex.uri('whole'), mode: 'replace' });
    await client.result('fs/writeBlock', { handleId: 'w', offset: 0, chunk: base64('new') });
    client.cut();
    await client.ended();
    await using other = await codex.ready();
    await other.result('environment/status');
    expect(readFileSync(codex.path('whole'), 'utf8')).toBe('old');
    expect(spools()).toEqual(before);
  });

  test('a large one, block by block', async () => {
    await using client = await codex.ready();
    const bytes = randomBytes(5 * 1024 * 1024 + 7);
    await client.result('fs/open', { handleId: 'w', path: codex.uri('blocks'), mode: 'replace' });
    const MIB = 1024 * 1024;
    const offsets = [0, 1, 2, 3, 4, 5].map((n) => n * MIB);
    await Promise.all(
      offsets.map((offset) =>
        client.result('fs/writeBlock', { handleId: 'w', offset, chunk: bytes.subarray(offset, offset + MIB).toString('base64') }),
      ),
    );
    await client.result('fs/close', { handleId: 'w' });
    await client.result('fs/open', { handleId: 'r', path: codex.uri('blocks') });
    const blocks = await Promise.all(offsets.map((offset) => client.result('fs/readBlock', { handleId: 'r', offset, len: MIB })));
    expect(blocks.map(({ eof }) => eof)).toEqual([false, false, false, false, false, true]);
    expect(Buffer.concat(blocks.map(({ chunk }) => Buffer.from(chunk, 'base64'))).equals(bytes)).toBe(true);
  });

  test('a file that another one took the place of is not taken for it', async () => {
    await using client = await codex.ready();
    writeFileSync(codex.path('first'), 'first');
    await client.result('fs/open', { handleId: 'r', path: codex.uri('first') });
    const { birthtimeMs } = statSync(codex.path('first'));
    await until('the clock of the file system moves', () => {
      rmSync(codex.path('second'), { force: true });
      writeFileSync(codex.path('second'), 'second');
      return statSync(codex.path('second')).birthtimeMs > birthtimeMs + 1;
    });
    renameSync(codex.path('second'), codex.path('first'));
    expect(await client.code('fs/readBlock', { handleId: 'r', offset: 0, len: 6 })).toBe(-32603);
  });

  test('what is refused', async () => {
    await using client = await codex.ready();
    writeFileSync(codex.path('a'), 'hello');
    const open = (handleId: string, rest: object = {}) => client.code('fs/open', { handleId, path: codex.uri('a'), ...rest });
    expect(await open('a')).toBe(0);
    expect(await open('a')).toBe(-32600);
    expect(await open('b', { mode: 'append' })).toBe(-32602);
    expect(await open('b', { path: codex.uri('none') })).toBe(-32004);
    expect(await open('b', { path: codex.uri('none/x'), mode: 'replace' })).toBe(-32004);
    expect(await open('b', { path: codex.uri() })).toBe(-32600);
    expect(await open('b', { path: codex.uri(), mode: 'replace' })).toBe(-32603);
    expect(await open('w', { mode: 'replace' })).toBe(0);
    const read = (handleId: string, len: number) => client.code('fs/readBlock', { handleId, offset: 0, len });
    expect([await read('a', 0), await read('a', 1024 * 1024 + 1), await read('none', 1), await read('w', 1)]).toEqual([
      -32600, -32600, -32004, -32603,
    ]);
    const write = (handleId: string, offset: number, size = 1) =>
      client.code('fs/writeBlock', { handleId, offset, chunk: Buffer.alloc(size).toString('base64') });
    expect([await write('a', 0), await write('none', 0), await write('w', 2 ** 40), await write('w', 0, 1024 * 1024 + 1)]).toEqual([
      -32603, -32004, -32600, -32600,
    ]);
    for (let i = 0; i < 126; i++) expect(await open(`more-${i}`)).toBe(0);
    expect(await open('one-too-many')).toBe(-32600);
    expect(await client.result('fs/close', { handleId: 'a' })).toEqual({});
    expect(await client.result('fs/close', { handleId: 'a' })).toEqual({});
    expect(await open('one-too-many')).toBe(0);
  });
});

describe('trees', () => {
  const walk = { maxDepth: 9, maxDirectories: 100, maxEntries: 100, followDirectorySymlinks: false };
  const tree = (name: string) => {
    const top = codex.path(name);
    mkdirSync(`${top}/.hidden/x`, { recursive: true });
    mkdirSync(`${top}/sub/deep`, { recursive: true });
    for (const file of ['a', 'sub/b', 'sub/deep/c']) writeFileSync(`${top}/${file}`, file);
    for (const [link, target] of [
      ['to-sub', 'sub'],
      ['to-a', 'a'],
      ['nowhere', 'none'],
      ['loop', '.'],
    ] as const)
      symlinkSync(target, `${top}/${link}`);
    return name;
  };
  const names = (top: string, { entries }: { entries: { path: string }[] }) =>
    entries.map(({ path }) => path.slice(codex.uri(top).length + 1));

  test('are walked level by level', async () => {
    await using client = await codex.ready();
    const top = tree('walked');
    const path = codex.uri(top);
    const all = await client.result('fs/walk', { path, options: walk });
    expect(names(top, all)).toEqual(['.hidden', 'a', 'sub', '.hidden/x', 'sub/b', 'sub/deep', 'sub/deep/c']);
    expect(all).toMatchObject({ errors: [], truncated: false });
    const follow = await client.result('fs/walk', {
      path,
      options: { ...walk, followDirectorySymlinks: true, pruneHiddenDirectories: true },
    });
    expect(names(top, follow).filter((name) => name.endsWith('/b'))).toHaveLength(1);
    expect(names(top, follow)).not.toContain('.hidden/x');
    for (const [options, count] of [
      [{ maxDepth: 0 }, 3],
      [{ maxEntries: 2 }, 2],
      [{ maxDirectories: 1 }, 3],
    ] as const) {
      const some = await client.result('fs/walk', { path, options: { ...walk, ...options } });
      expect(some.entries).toHaveLength(count);
      expect(some.truncated).toBe(!('maxDepth' in options));
    }
    expect(await client.code('fs/walk', { path: codex.uri('none'), options: walk })).toBe(-32004);
    expect(await client.code('fs/walk', { path })).toBe(-32602);
  });

  test('are listed with what links lead to', async () => {
    await using client = await codex.ready();
    const { entries } = await client.result('fs/readDirectory', { path: codex.uri(tree('listed')) });
    const found = Object.fromEntries(
      entries.map((entry: { fileName: string; isDirectory: boolean }) => [entry.fileName, entry.isDirectory]),
    );
    expect(found).toEqual({ '.hidden': true, a: false, loop: true, sub: true, 'to-a': false, 'to-sub': true });
    expect(await client.code('fs/readDirectory', { path: codex.uri('listed/a') })).toBe(-32603);
  });

  test('are copied, and removed', async () => {
    await using client = await codex.ready();
    const top = tree('copied');
    const copy = (from: string, to: string, recursive = true) =>
      client.code('fs/copy', { sourcePath: codex.uri(from), destinationPath: codex.uri(to), recursive });
    expect(await copy(top, 'copy', false)).toBe(-32600);
    expect(await copy(top, `${top}/sub/inside`)).toBe(-32600);
    expect(await copy('none', 'copy')).toBe(-32004);
    expect(await copy(top, 'copy')).toBe(0);
    expect(await copy(`${top}/sub/b`, 'copy/a')).toBe(0);
    expect(readFileSync(codex.path('copy/a'), 'utf8')).toBe('sub/b');
    expect(await client.code('fs/remove', { path: codex.uri('copy'), recursive: false })).toBe(-32603);
    expect(await client.code('fs/remove', { path: codex.uri('copy/to-sub') })).toBe(0);
    expect(existsSync(codex.path('copy/sub/b'))).toBe(true);
    expect(await client.code('fs/remove', { path: codex.uri('copy') })).toBe(0);
    expect(await client.code('fs/remove', { path: codex.uri('copy') })).toBe(0);
    expect(await client.code('fs/remove', { path: codex.uri('copy'), force: false })).toBe(-32004);
  });

  test('links on the way', async () => {
    await using client = await codex.ready();
    const top = tree('linked');
    const real = async (path: string) => (await client.result('fs/canonicalize', { path })).path;
    expect(await real(codex.uri(`${top}/loop/to-sub/deep`))).toBe(codex.uri(`${top}/sub/deep`));
    symlinkSync('b', codex.path('circle-a'));
    symlinkSync('circle-a', codex.path('b'));
    expect(await client.code('fs/canonicalize', { path: codex.uri('circle-a') })).toBe(-32603);
    const plain = (path: string) => client.code('fs/getMetadata', { path: codex.uri(path), followSymlinks: false });
    expect([await plain(`${top}/sub/b`), await plain(`${top}/to-a`), await plain(`${top}/to-sub/b`)]).toEqual([0, -32600, -32600]);
    expect(await client.result('fs/getMetadata', { path: codex.uri(`${top}/to-sub`) })).toMatchObject({
      isDirectory: true,
      isSymlink: true,
    });
  });

  test('what is missing is told of when it comes', async () => {
    await using client = await codex.ready();
    const watch = (watchId: number, missing: string[], present: string | null = null) =>
      client.result('fs/watchMissing', { watchId, missing: missing.map(codex.uri), present: present === null ? null : codex.uri(present) });
    writeFileSync(codex.path('is-there'), '');
    expect(await watch(1, ['is-there'])).toEqual({ watching: false });
    expect(await watch(2, [])).toEqual({ watching: false });
    expect(await watch(3, ['soon/x', 'later'], 'is-there')).toEqual({ watching: true });
    mkdirSync(codex.path('soon'));
    writeFileSync(codex.path('soon/x'), '');
    await client.find('the change', ({ method, params }) => method === 'fs/missingChanged' && params.watchId === 3);
  });
});
