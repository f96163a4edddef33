import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { LocalFileSystem } from '../../src/fs/local-file-system.js';
import { bytesOf, codeOf, ROOTS, Scratch, textOf } from './scratch.js';

const whole = new LocalFileSystem();

describe.each(ROOTS)('%s', (kind) => {
  const scratch = new Scratch(kind);

  test('a file is read whole and by range', async () => {
    const bytes = Buffer.from(Array.from({ length: 700_001 }, (_, i) => i * 7 + (i >> 8)));
    writeFileSync(scratch.path('f'), bytes);
    const { files } = scratch;
    expect((await bytesOf(files.readFile(scratch.at('f')))).equals(bytes)).toBe(true);
    for (const [offset, length] of [
      [0, 1],
      [0, 262_144],
      [1, 262_144],
      [262_143, 2],
      [700_000, 5],
      [699_999, undefined],
      [5, 0],
    ] as const) {
      const content = await files.readFile(scratch.at('f'), { offset, length });
      const expected = bytes.subarray(offset, length === undefined ? undefined : offset + length);
      expect(content.length).toBe(expected.length);
      expect((await bytesOf(content)).equals(expected)).toBe(true);
    }
    expect(await codeOf(files.readFile(scratch.at('f'), { offset: 700_001 }))).toBe('range_not_satisfiable');
  });

  test('an empty file is empty', async () => {
    writeFileSync(scratch.path('f'), '');
    const content = await scratch.files.readFile(scratch.at('f'));
    expect([content.length, content.metadata.size_bytes, await textOf(content)]).toEqual([0, 0, '']);
  });

  test('a name that is not UTF-8 is read', async () => {
    const name = Buffer.concat([Buffer.from(`${scratch.path('')}/`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(name, 'odd');
    expect(await textOf(scratch.files.readFile({ path_base64: name.toString('base64') }))).toBe('odd');
  });

  test('if_match reads the content with that etag only', async () => {
    const { files } = scratch;
    const { metadata } = await files.writeFile(scratch.at('f'), Buffer.from('1'));
    const etag = metadata.etag as string;
    expect(await textOf(files.readFile(scratch.at('f'), { if_match: etag }))).toBe('1');
    appendFileSync(scratch.path('f'), '2');
    const fields = { etag: (await files.getMetadata(scratch.at('f'))).etag };
    await expect(files.readFile(scratch.at('f'), { if_match: etag })).rejects.toMatchObject({ code: 'precondition_failed', fields });
  });

  test('a file that shrinks fails, and one that grows ends where it was to end', async () => {
    writeFileSync(scratch.path('f'), Buffer.alloc(600_000));
    const shrinking = await scratch.files.readFile(scratch.at('f'));
    truncateSync(scratch.path('f'), 300_000);
    expect(await codeOf(bytesOf(shrinking))).toBe('file_error');
    const growing = await scratch.files.readFile(scratch.at('f'));
    appendFileSync(scratch.path('f'), 'more');
    expect(await bytesOf(growing)).toHaveLength(300_000);
  });

  test('a content that is left, before the loop, in it or by an abort, is closed', async () => {
    writeFileSync(scratch.path('f'), Buffer.alloc(600_000));
    const { files } = scratch;
    await (await files.readFile(scratch.at('f'))).close();
    const unread = (await files.readFile(scratch.at('f'))).body[Symbol.asyncIterator]();
    await unread.return?.();
    for await (const block of (await files.readFile(scratch.at('f'))).body) {
      expect(block.length).toBe(262_144);
      break;
    }
    const abort = new AbortController();
    const content = await files.readFile(scratch.at('f'), { signal: abort.signal });
    const read = async () => {
      for await (const _ of content.body) abort.abort(new Error('enough'));
    };
    await expect(read()).rejects.toThrow('enough');
    await expect(files.readFile(scratch.at('f'), { signal: abort.signal })).rejects.toThrow('enough');
  });

  test('B28 B40: fifos, sockets, devices and directories are refused at once, and not even opened', async () => {
    const { files } = scratch;
    execFileSync('mkfifo', [scratch.path('fifo')]);
    execFileSync('mknod', [scratch.path('zero'), 'c', '1', '5']);
    symlinkSync('fifo', scratch.path('link'));
    const server = createServer().listen(scratch.path('socket'));
    const start = performance.now();
    const codes = await Promise.all(
      ['fifo', 'zero', 'link', 'socket', 'fifo', 'fifo', 'fifo', 'fifo'].map((name) => codeOf(files.readFile(scratch.at(name)))),
    );
    expect(new Set(codes)).toEqual(new Set(['not_regular_file']));
    expect(await codeOf(files.readFile(scratch.at('zero'), { length: 10 }))).toBe('not_regular_file');
    expect(await codeOf(files.readFile(scratch.at('.')))).toBe('is_a_directory');
    expect(await codeOf(files.writeFile(scratch.at('fifo'), Buffer.from('x')))).toBe('not_regular_file');
    expect(await codeOf(files.writeFile(scratch.at('link'), Buffer.from('x')))).toBe('not_regular_file');
    expect(await codeOf(files.copy({ source_path: scratch.path('fifo'), destination_path: scratch.path('b') }))).toBe('not_regular_file');
    expect(await codeOf(files.copy({ source_path: scratch.path('zero'), destination_path: scratch.path('b') }))).toBe('not_regular_file');
    expect(performance.now() - start).toBeLessThan(1000);
    writeFileSync(scratch.path('f'), '1');
    const again = performance.now();
    expect(await textOf(files.readFile(scratch.at('f')))).toBe('1');
    expect(performance.now() - again).toBeLessThan(200);
    const types = { fifo: 'fifo', zero: 'char', socket: 'socket', link: 'symlink', f: 'file' };
    for (const [name, type] of Object.entries(types)) expect(await files.getMetadata(scratch.at(name))).toMatchObject({ type });
    await new Promise((resolve) => server.close(resolve));
  });

  test('a path with a slash at its end is a directory', async () => {
    writeFileSync(scratch.path('f'), '1');
    const { files } = scratch;
    expect(await codeOf(files.readFile(scratch.at('f/')))).toBe('not_a_directory');
    expect(await codeOf(files.getMetadata(scratch.at('f/')))).toBe('not_a_directory');
    expect(await codeOf(files.readFile(scratch.at('f/x')))).toBe('not_a_directory');
    expect(await codeOf(files.writeFile(scratch.at('f/'), Buffer.from('x')))).toBe('not_a_directory');
    expect(await codeOf(files.writeFile(scratch.at('new/'), Buffer.from('x')))).toBe('is_a_directory');
    expect(await codeOf(files.writeFile(scratch.at(''), Buffer.from('x')))).toBe('is_a_directory');
    expect(await codeOf(files.remove(scratch.at('f/')))).toBe('not_a_directory');
    expect(await codeOf(files.move({ source_path: scratch.path('f'), destination_path: scratch.path('g/') }))).toBe('not_a_directory');
    expect(await files.createDirectory(scratch.at('d/'))).toMatchObject({ created: true });
  });

  test('links in a circle, and chains of more than 40, are told as such', async () => {
    symlinkSync('loop', scratch.path('loop'));
    writeFileSync(scratch.path('0'), '1');
    for (let i = 1; i <= 50; i++) symlinkSync(`${i - 1}`, scratch.path(`${i}`));
    const { files } = scratch;
    for (const path of ['loop', 'loop/x', '41', '50']) expect(await codeOf(files.readFile(scratch.at(path)))).toBe('symlink_loop');
    expect(await codeOf(files.writeFile(scratch.at('loop'), Buffer.from('x')))).toBe('symlink_loop');
    expect(await textOf(files.readFile(scratch.at('38')))).toBe('1');
  });
});

test('files of /proc and /sys are read whole, whatever size they say', async () => {
  const status = await whole.readFile({ path: '/proc/self/status' });
  expect([status.length, status.metadata.size_bytes]).toEqual([null, 0]);
  expect(await textOf(status)).toMatch(/^Name:.*\n/);
  expect(await textOf(whole.readFile({ path: '/proc/kallsyms' }, { length: 1_000_000 }))).toHaveLength(1_000_000);
  expect(await textOf(whole.readFile({ path: '/proc/cpuinfo' }))).toMatch(/^processor\s*: 0\n/);
  expect(await textOf(whole.readFile({ path: '/proc/version' }, { offset: 6, length: 7 }))).toBe(
    readFileSync('/proc/version', 'utf8').slice(6, 13),
  );
  const sysfs = await whole.readFile({ path: '/sys/kernel/mm/transparent_hugepage/enabled' });
  expect([sysfs.length, await textOf(sysfs)]).toEqual([null, readFileSync('/sys/kernel/mm/transparent_hugepage/enabled', 'utf8')]);
});

test('on the whole machine the links of /proc lead where the system says', async () => {
  expect(await whole.getMetadata({ path: '/proc/self/exe' }, { follow_symlinks: true })).toMatchObject({ type: 'file' });
  expect(await whole.getMetadata({ path: '/proc/self/root/' }, { follow_symlinks: true })).toMatchObject({ type: 'directory' });
  expect((await whole.readDirectory({ path: '/proc/self/cwd' })).entries.map(({ name }) => name)).toContain('package.json');
});

test('a sparse file of 3 GiB is read by range', async () => {
  const scratchFile = '/dev/shm/exec-gateway-sparse';
  writeFileSync(scratchFile, '');
  truncateSync(scratchFile, 3 * 1024 ** 3);
  appendFileSync(scratchFile, 'end');
  const content = await whole.readFile({ path: scratchFile }, { offset: 3 * 1024 ** 3 - 2 });
  expect([content.length, await textOf(content)]).toEqual([5, '\0\0end']);
  await whole.remove({ path: scratchFile });
});
