import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LocalFileSystem } from '../../src/fs/local-file-system.js';
import { gather, gnuTar, pythonTar, settle, treeState } from '../support/tar.js';
import { codeOf, litter, ROOTS, Scratch } from './scratch.js';

describe.each(ROOTS)('a tar, %s', (kind) => {
  const scratch = new Scratch(kind);

  const name = fc
    .uint8Array({ minLength: 1, maxLength: 40 })
    .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0 || byte === 0x2f ? 0x61 : byte))))
    .filter((bytes) => bytes.toString('latin1') !== '.' && bytes.toString('latin1') !== '..');
  type Node = { name: Buffer; mode: number; content?: Uint8Array; target?: Buffer; below?: Node[] };
  const { tree } = fc.letrec<{ tree: Node[] }>((tie) => ({
    tree: fc.uniqueArray(
      fc.oneof(
        fc.record({ name, mode: fc.integer({ min: 0, max: 0o1777 }), content: fc.uint8Array({ maxLength: 300 }) }),
        fc.record({ name, mode: fc.constant(0), target: name }),
        fc.record({ name, mode: fc.integer({ min: 0, max: 0o1777 }), below: tie('tree') }),
      ),
      { maxLength: 4, selector: (node) => node.name.toString('latin1') },
    ),
  }));

  function make(at: Buffer, nodes: Node[]): void {
    for (const { name, mode, content, target, below } of nodes) {
      const path = Buffer.concat([at, Buffer.from('/'), name]);
      if (target) symlinkSync(target, path);
      else if (content) writeFileSync(path, content);
      else {
        mkdirSync(path);
        make(path, below ?? []);
      }
      if (!target) chmodSync(path, mode);
    }
  }

  it('of any tree makes the same tree', async () => {
    const { files } = scratch;
    await fc.assert(
      fc.asyncProperty(tree, async (nodes) => {
        mkdirSync(scratch.path('from'));
        make(Buffer.from(scratch.path('from')), nodes);
        settle(scratch.path('from'));
        await files.writeArchive(scratch.at('to'), await files.readArchive(scratch.at('from')));
        expect(treeState(scratch.path('to'))).toEqual(treeState(scratch.path('from')));
        execFileSync('rm', ['-rf', scratch.path('from'), scratch.path('to')]);
      }),
      { numRuns: 25 },
    );
  });

  it('is what tar makes of a deep tree', async () => {
    const deep = Array.from({ length: 200 }, (_, at) => `d${at}`).join('/');
    mkdirSync(scratch.path(`from/${deep}`), { recursive: true });
    writeFileSync(scratch.path(`from/${deep}/f`), 'deep');
    await scratch.files.writeArchive(scratch.at('to'), gnuTar(scratch.path('from')));
    expect(readFileSync(scratch.path(`to/${deep}/f`), 'utf8')).toBe('deep');
    expect((await gather(scratch.files.readArchive(scratch.at('to')))).length).toBeGreaterThan(100_000);
    const too_deep = `add('${'d/'.repeat(300)}f')`;
    expect(await codeOf(scratch.files.writeArchive(scratch.at('to'), pythonTar(too_deep)))).toBe('path_too_long');
  });
});

describe('a tar', () => {
  const scratch = new Scratch();

  it('breaks off when a file becomes shorter, and goes on when one becomes longer or is gone', async () => {
    mkdirSync(scratch.path('from/e'), { recursive: true });
    for (const at of ['a', 'b', 'e/c']) writeFileSync(scratch.path(`from/${at}`), at.repeat(1_000_000));
    const read = async (meanwhile: () => void) => {
      const parts: Uint8Array[] = [];
      for await (const part of await scratch.files.readArchive(scratch.at('from'))) if (parts.push(part) === 1) meanwhile();
      return Buffer.concat(parts);
    };
    const names = (tar: Buffer) => execFileSync('tar', ['tf', '-'], { input: tar }).toString().trim().split('\n');
    expect(names(await read(() => appendFileSync(scratch.path('from/a'), 'more')))).toEqual(['a', 'b', 'e/', 'e/c']);
    expect(names(await read(() => rmSync(scratch.path('from/e'), { recursive: true })))).toEqual(['a', 'b']);
    expect(await codeOf(read(() => truncateSync(scratch.path('from/a'), 300_000)))).toBe('file_error');
  });

  it('nothing is open and nothing is read when the loop is left, at once or later', async () => {
    mkdirSync(scratch.path('from/d'), { recursive: true });
    for (let at = 0; at < 40; at++) writeFileSync(scratch.path(`from/d/${at}`), Buffer.alloc(100_000));
    const never = (await scratch.files.readArchive(scratch.at('from')))[Symbol.asyncIterator]();
    await never.return?.();
    for await (const part of await scratch.files.readArchive(scratch.at('from'))) if (part) break;
    const alone = (await scratch.files.readArchive(scratch.at('from/d/1')))[Symbol.asyncIterator]();
    await alone.return?.();
    const given_up = new AbortController();
    const rest = await scratch.files.readArchive(scratch.at('from'), { signal: given_up.signal });
    const reading = gather(rest);
    given_up.abort(new Error('given up'));
    await expect(reading).rejects.toThrow('given up');
  });

  it('a body that fails or is given up leaves nothing half, and its own failure is told', async () => {
    const tar = pythonTar("add('one', b'1'); add('two', b'2'*100000)");
    async function* cut() {
      yield tar.subarray(0, 50_000);
      throw new Error('cut off');
    }
    await expect(scratch.files.writeArchive(scratch.at('to'), cut())).rejects.toThrow('cut off');
    const given_up = new AbortController();
    async function* hangs() {
      yield tar.subarray(0, 50_000);
      given_up.abort(new Error('given up'));
      await new Promise(() => {});
    }
    await expect(scratch.files.writeArchive(scratch.at('to'), hangs(), { signal: given_up.signal })).rejects.toThrow('given up');
    expect(readdirSync(scratch.path('to'))).toEqual(['one']);
  });

  it('of 20,000 entries', async () => {
    // In memory where there is such a place: disks take minutes to forget so many files.
    const dir = mkdtempSync(existsSync('/dev/shm') ? '/dev/shm/many-' : scratch.path('many-'));
    try {
      const files = new LocalFileSystem({ root: dir });
      const many = pythonTar("for i in range(20000): add('d%d/f%d' % (i//200, i), b'x')");
      expect(await files.writeArchive({ path: 'to' }, many)).toEqual({ files: 20_000, directories: 100, links: 0, bytes: 20_000 });
      const told = await gather(files.readArchive({ path: 'to' }));
      expect(
        execFileSync('tar', ['tf', '-'], { input: told, maxBuffer: 1 << 27 })
          .toString()
          .split('\n').length,
      ).toBe(20_101);
    } finally {
      execFileSync('rm', ['-rf', dir]);
    }
  });

  it('with names of any length that a file system takes', async () => {
    const long = pythonTar("add('/'.join(['n'*255]*15), b'x')");
    expect(await scratch.files.writeArchive(scratch.at('to'), long)).toMatchObject({ files: 1 });
    for (const name of ["'n'*256", "'/'.join(['n'*255]*17)"]) {
      expect(await codeOf(scratch.files.writeArchive(scratch.at('to'), pythonTar(`add(${name}, b'x')`)))).toBe('path_too_long');
    }
  });

  it('what is there as something else is told', async () => {
    mkdirSync(scratch.path('to/d/e'), { recursive: true });
    writeFileSync(scratch.path('to/f'), '');
    const write = (script: string) => codeOf(scratch.files.writeArchive(scratch.at('to'), pythonTar(script)));
    expect(await write("add('d', b'x')")).toBe('is_a_directory');
    expect(await write("add('d', type=tarfile.SYMTYPE, linkname='f')")).toBe('is_a_directory');
    expect(await write("add('f/x', b'x')")).toBe('not_a_directory');
    expect(await write("add('h', type=tarfile.LNKTYPE, linkname='missing')")).toBe('path_not_found');
    expect(await write("add('h', type=tarfile.LNKTYPE, linkname='missing/x')")).toBe('path_not_found');
    expect(await write("add('h', type=tarfile.LNKTYPE, linkname='d')")).toBe('access_denied');
    expect(await write("add('.', b'x')")).toBe('unsafe_archive_entry');
    expect(readdirSync(scratch.path('to'), { recursive: true }).sort()).toEqual(['d', 'd/e', 'f']);
    expect(existsSync(scratch.path('to/missing'))).toBe(false);
  });

  it('set-id bits are not given, times and modes of directories that were there stay', async () => {
    mkdirSync(scratch.path('to/there'), { recursive: true, mode: 0o750 });
    const tar = pythonTar(
      "add('s', b'x', mode=0o6755); add('there/', type=tarfile.DIRTYPE, mode=0o777); add('made/', type=tarfile.DIRTYPE, mode=0o2770, mtime=5)",
    );
    await scratch.files.writeArchive(scratch.at('to'), tar);
    const modes = ['s', 'there', 'made'].map(async (at) => (await scratch.files.getMetadata(scratch.at(`to/${at}`))).mode);
    expect(await Promise.all(modes)).toEqual([0o755, 0o750, 0o770]);
    expect((await scratch.files.getMetadata(scratch.at('to/made'))).modified_at).toBe('1970-01-01T00:00:05.000Z');
  });

  it('is refused where it would leave the root', async () => {
    symlinkSync(scratch.outside(''), scratch.path('way'));
    expect(await codeOf(scratch.files.writeArchive(scratch.at('way'), pythonTar("add('x', b'x')")))).toBe('path_outside_root');
    expect(await codeOf(scratch.files.readArchive(scratch.at('way')))).toBe('path_outside_root');
    expect(await codeOf(scratch.files.search(scratch.at('way'), { text: 'secret' }))).toBe('path_outside_root');
    expect(scratch.outsideState).toEqual(['outside/secret', 'root-evil/secret']);
  });

  it('two at once into one directory leave each file whole', async () => {
    const tars = ['1', '2'].map((fill) => pythonTar(`for i in range(300): add('f%d' % i, b'${fill}'*5000)`));
    await Promise.all(tars.map((tar) => scratch.files.writeArchive(scratch.at('to'), tar)));
    for (let at = 0; at < 300; at++) expect(readFileSync(scratch.path(`to/f${at}`), 'utf8')).toMatch(/^(1{5000}|2{5000})$/);
    expect(litter(scratch.path('to'))).toEqual([]);
  });

  it('a directory that is moved while it is filled takes the file with it, or the call fails', async () => {
    const tar = pythonTar("add('d/one', b'1'); add('d/two', b'2'*200000); add('d/three', b'3')");
    async function* slowly() {
      yield tar.subarray(0, 100_000);
      renameSync(scratch.path('to/d'), scratch.path('moved'));
      mkdirSync(scratch.path('to/d'));
      yield tar.subarray(100_000);
    }
    await scratch.files.writeArchive(scratch.at('to'), slowly()).catch((error) => expect(error.name).toBe('GatewayError'));
    expect(readdirSync(scratch.path('moved')).sort()).toEqual(['one', 'three', 'two']);
    expect(join(scratch.top, 'root')).toBe(scratch.path(''));
  });
});
