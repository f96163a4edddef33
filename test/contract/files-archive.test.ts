import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BACKENDS, useBackend } from '../support/backends.js';
import { gather, gnuTar, pythonTar, settle, treeState } from '../support/tar.js';
import { codeOf } from '../support/told.js';

const NONE = { files: 0, directories: 0, links: 0, bytes: 0 };

/** A tar of 300 MiB of nothing in 300 kB: gzip's parts may stand one after another. */
function bomb(): Buffer {
  const head = gzipSync(pythonTar("m=tarfile.TarInfo('air'); m.size=300*2**20; out.write(m.tobuf())"));
  return Buffer.concat([head, ...Array<Buffer>(300).fill(gzipSync(Buffer.alloc(2 ** 20)))]);
}

describe.each(BACKENDS)('%s', (name) => {
  const backend = useBackend(name);
  let dir = '';

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'archived-'));
    mkdirSync(join(dir, 'from'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const at = (below: string) => ({ path: join(dir, below) });
  const read = (below: string) => backend.files.readArchive(at(below));
  const write = (below: string, tar: Buffer, options = {}) => backend.files.writeArchive(at(below), tar, options);
  const file = (below: string, content = '') => writeFileSync(join(dir, below), content);

  function makeTree(): void {
    mkdirSync(join(dir, 'from/d/empty'), { recursive: true });
    file('from/a', 'content of a');
    file('from/d/script', '#!/bin/sh\n');
    file('from/d/big', 'x'.repeat(1_000_000));
    file(`from/${'n'.repeat(200)}`, 'long');
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/from/`), Buffer.from([0xff, 0xfe])]), 'odd');
    symlinkSync('../a', join(dir, 'from/d/up'));
    symlinkSync('nowhere', join(dir, 'from/dangling'));
    chmodSync(join(dir, 'from/d/script'), 0o750);
    chmodSync(join(dir, 'from/d/empty'), 0o500);
    settle(join(dir, 'from'));
  }

  it('a tree written elsewhere is the same: content, modes, times, links, odd names', async () => {
    makeTree();
    const told = await backend.files.writeArchive(at('to'), await read('from'));
    expect(told).toEqual({ files: 5, directories: 2, links: 2, bytes: 1_000_029 });
    expect(treeState(join(dir, 'to'))).toEqual(treeState(join(dir, 'from')));
  });

  it('GNU tar unpacks what is read, and what GNU tar packs is unpacked', async () => {
    makeTree();
    mkdirSync(join(dir, 'gnu'));
    execFileSync('tar', ['x', '-p', '-C', join(dir, 'gnu')], { input: await gather(read('from')) });
    expect(treeState(join(dir, 'gnu'))).toEqual(treeState(join(dir, 'from')));
    await write('to', gnuTar(join(dir, 'from'), '--format=posix'));
    expect(treeState(join(dir, 'to'))).toEqual(treeState(join(dir, 'from')));
  });

  it('one file is a tar of one, a link at the end is followed, special files are left out', async () => {
    file('from/a', 'alone');
    symlinkSync('from', join(dir, 'link'));
    execFileSync('mkfifo', [join(dir, 'from/fifo')]);
    const list = (tar: Buffer) => execFileSync('tar', ['tf', '-'], { input: tar }).toString();
    expect(list(await gather(read('from/a')))).toBe('a\n');
    expect(list(await gather(read('link')))).toBe('a\n');
    expect(await codeOf(read('from/fifo').then(gather))).toBe('not_regular_file');
    expect(await codeOf(read('nothing').then(gather))).toBe('path_not_found');
  });

  it('files are replaced, directories merged, hard links made', async () => {
    file('from/a', 'new');
    linkSync(join(dir, 'from/a'), join(dir, 'from/b'));
    mkdirSync(join(dir, 'to/d'), { recursive: true });
    file('to/a', 'old');
    file('to/d/kept', 'kept');
    symlinkSync('d/kept', join(dir, 'to/b'));
    const tar = gnuTar(join(dir, 'from'));
    expect(await write('to', tar)).toEqual({ files: 2, directories: 0, links: 0, bytes: 3 });
    await write('to', Buffer.concat([tar.subarray(0, -1024), tar]));
    expect(readdirSync(join(dir, 'to')).sort()).toEqual(['a', 'b', 'd']);
    expect(['a', 'b', 'd/kept'].map((below) => readFileSync(join(dir, 'to', below), 'utf8'))).toEqual(['new', 'new', 'kept']);
  });

  it('packed tars are known by their first bytes, or by what is said of them', async () => {
    file('from/a', 'packed');
    const packed = gzipSync(gnuTar(join(dir, 'from')));
    expect(await write('to', packed)).toMatchObject({ files: 1 });
    expect(await write('told', packed, { encoding: 'gzip' })).toMatchObject({ files: 1 });
    expect(await codeOf(write('told', gnuTar(join(dir, 'from')), { encoding: 'gzip' }))).toBe('invalid_archive');
    expect(await codeOf(write('cut', packed.subarray(0, -30)))).toBe('invalid_archive');
  });

  it('directories above are made on request', async () => {
    file('from/a');
    const tar = gnuTar(join(dir, 'from'));
    expect(await codeOf(write('x/y/z', tar))).toBe('path_not_found');
    expect(await write('x/y/z', tar, { create_parents: true })).toMatchObject({ files: 1 });
    expect(existsSync(join(dir, 'x/y/z/a'))).toBe(true);
    expect(await codeOf(write('from/a', tar))).toBe('not_a_directory');
  });

  const UNSAFE: [what: string, script: string, entry: string][] = [
    ['an absolute name', "add('/tmp/evil', b'x')", '/tmp/evil'],
    ['a name that ascends', "add('a/../../evil', b'x')", 'a/../../evil'],
    ['an absolute link', "add('l', type=tarfile.SYMTYPE, linkname='/etc')", 'l'],
    ['a link that ascends', "add('d/l', type=tarfile.SYMTYPE, linkname='../../etc')", 'd/l'],
    ['a link that turns back after a name', "add('a', type=tarfile.SYMTYPE, linkname='b/../..')", 'a'],
    ['a file through a link of the tar', "add('in', type=tarfile.SYMTYPE, linkname='d'); add('in/evil', b'x')", 'in/evil'],
    ['a directory over a link', "add('in', type=tarfile.SYMTYPE, linkname='d'); add('in/', type=tarfile.DIRTYPE)", 'in/'],
    ['a hard link to outside', "add('h', type=tarfile.LNKTYPE, linkname='../outside')", 'h'],
    ['an absolute hard link', "add('h', type=tarfile.LNKTYPE, linkname='/etc/passwd')", 'h'],
    ['a hard link of a link', "add('l', type=tarfile.SYMTYPE, linkname='x'); add('d/h', type=tarfile.LNKTYPE, linkname='l')", 'd/h'],
    ['a device', "add('null', type=tarfile.CHRTYPE, devmajor=1, devminor=3)", 'null'],
    ['a fifo', "add('pipe', type=tarfile.FIFOTYPE)", 'pipe'],
  ];

  it.each(UNSAFE)('%s is refused, by name', async (_what, script, entry) => {
    file('outside', 'outside');
    mkdirSync(join(dir, 'to/d'), { recursive: true });
    await expect(write('to', pythonTar(`add('first', b'1'); ${script}; add('last', b'2')`))).rejects.toMatchObject({
      code: 'unsafe_archive_entry',
      status: 422,
      fields: { path: entry, unpacked: { files: 1 } },
    });
    expect(readFileSync(join(dir, 'to/first'), 'utf8')).toBe('1');
    expect(existsSync(join(dir, 'to/last'))).toBe(false);
    expect(readdirSync(dir).sort()).toEqual(['from', 'outside', 'to']);
    expect(readdirSync(join(dir, 'to/d'))).toEqual([]);
    expect(readFileSync(join(dir, 'outside'), 'utf8')).toBe('outside');
  });

  it('links that lead anywhere are made when that is asked for, and nothing is written through them', async () => {
    mkdirSync(join(dir, 'outside'));
    const texts = { absolute: join(dir, 'outside'), 'd/up': '../../outside', turning: 'd/../../outside' };
    const links = Object.entries(texts).map(([entry, text]) => `add('${entry}', type=tarfile.SYMTYPE, linkname='${text}')`);
    expect(await write('to', pythonTar(links.join('; ')), { any_links: true })).toEqual({ ...NONE, directories: 1, links: 3 });
    for (const [entry, text] of Object.entries(texts)) {
      expect(readlinkSync(join(dir, 'to', entry))).toBe(text);
      const through = write('to', pythonTar(`${links.join('; ')}; add('${entry}/evil', b'x')`), { any_links: true });
      await expect(through).rejects.toMatchObject({ code: 'unsafe_archive_entry', fields: { path: `${entry}/evil` } });
    }
    expect(readdirSync(join(dir, 'outside'))).toEqual([]);
  });

  it('nothing is written through a link that was there before', async () => {
    mkdirSync(join(dir, 'to'));
    mkdirSync(join(dir, 'outside'));
    symlinkSync('../outside', join(dir, 'to/way'));
    await expect(write('to', pythonTar("add('way/evil', b'x')"))).rejects.toMatchObject({
      code: 'unsafe_archive_entry',
      fields: { path: 'way/evil', unpacked: NONE },
    });
    expect(await write('to', pythonTar("add('way', b'a file now')"))).toMatchObject({ files: 1 });
    expect(readdirSync(join(dir, 'outside'))).toEqual([]);
  });

  it('what is cut or broken says how far it came, and leaves nothing half', async () => {
    const tar = pythonTar("add('d/', type=tarfile.DIRTYPE, mode=0o700); add('d/one', b'1'*100); add('two', b'2'*200000)");
    const end = tar.lastIndexOf('2') + 1;
    for (const cut of [end - 1000, end - 150_000, 512 * 3 + 100, 700, 0]) {
      rmSync(join(dir, 'to'), { recursive: true, force: true });
      const told = await write('to', tar.subarray(0, cut)).catch((error) => error);
      const whole = cut > 512 * 3;
      expect(told).toMatchObject({ code: 'invalid_archive', fields: { unpacked: { files: whole ? 1 : 0 } } });
      expect(
        (existsSync(join(dir, 'to')) ? readdirSync(join(dir, 'to'), { recursive: true }) : [])
          .map(String)
          .filter((entry) => /tmp|two/.test(entry)),
      ).toEqual([]);
    }
    const broken = Buffer.from(tar);
    broken[512 + 3] = 0x41;
    expect(await codeOf(write('broken', broken))).toBe('invalid_archive');
  });

  it('a tar that is mostly air is refused before it fills the disk', async () => {
    await expect(write('to', bomb())).rejects.toMatchObject({
      code: 'payload_too_large',
      fields: { limit: 268_435_456, path: 'air', unpacked: { files: 0 } },
    });
    expect(readdirSync(join(dir, 'to'))).toEqual([]);
  });
});
