import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LocalFileSystem } from '../../src/fs/local-file-system.js';
import type { FilePath } from '../../src/protocol/index.js';
import { bytesOf, Scratch } from './scratch.js';

const scratch = new Scratch();

const NAMES = [
  '.',
  '..',
  'a',
  'b',
  'file',
  'outside',
  'root',
  'root-evil',
  'secret',
  'up',
  'out',
  'out-file',
  'loop',
  'chain',
  '%2e%2e',
  '\xff',
  '',
];

/** Paths made of what could lead out: dots, links, doubled slashes, odd bytes, absolute beginnings. */
const anyPath = fc
  .tuple(
    fc.constantFrom('', '/', '//', 'TOP/', 'TOP/root/', 'TOP/root//', 'TOP/root/../'),
    fc.array(fc.constantFrom(...NAMES), { maxLength: 6 }),
  )
  .map(([start, names]) => start + names.join('/'));

const anyCall = fc.constantFrom('read', 'write', 'list', 'metadata', 'create', 'remove', 'copyFrom', 'copyTo', 'moveFrom', 'moveTo');

/** The content of the file outside, and a name beside it: whoever reads or lists there tells it. */
const TREASURE = 'TREASURE';

test('B09 B10: no generated path reads, lists, tells, makes or removes anything outside', async () => {
  for (const name of ['secret', TREASURE]) writeFileSync(scratch.outside(name), TREASURE);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(anyCall, anyPath), { minLength: 1, maxLength: 6 }), async (calls) => {
      furnish();
      const before = snapshot();
      const { files } = scratch;
      for (const [call, text] of calls) {
        const path_base64 = Buffer.from(text.replace('TOP', scratch.top), 'latin1').toString('base64');
        expect(await outcome(files, call, { path_base64 })).not.toContain(TREASURE);
      }
      expect(snapshot()).toEqual(before);
    }),
    { numRuns: 800 },
  );
}, 300_000);

/** Beside the root stands the secret, and links of all kinds lead to it. What calls have changed is put back. */
function furnish(): void {
  for (const name of ['a/b']) mkdirSync(scratch.path(name), { recursive: true });
  for (const name of ['file', 'a/file', 'a/b/file']) {
    if (!statSync(scratch.path(name), { throwIfNoEntry: false })) writeFileSync(scratch.path(name), 'inside');
  }
  const links = {
    up: '..',
    out: '../outside',
    'out-file': scratch.outside('secret'),
    loop: 'loop',
    chain: 'a/out',
    'a/out': 'b/../../../outside',
    'a/b/up': '../../..',
  };
  for (const [name, target] of Object.entries(links)) {
    try {
      symlinkSync(target, scratch.path(name));
    } catch {
      // It is there, or a call has put something else there.
    }
  }
}

/** All that is outside, with contents and times; not the root. */
function snapshot(): unknown[] {
  const list = (path: string): unknown[] => {
    const { mtimeNs, ctimeNs, mode } = statSync(path, { bigint: true });
    const what = statSync(path).isDirectory() ? readdirSync(path).map((name) => list(join(path, name))) : readFileSync(path, 'utf8');
    return [path, mtimeNs, ctimeNs, mode, what];
  };
  return [readdirSync(scratch.top).sort(), list(scratch.outside('')), list(join(scratch.top, 'root-evil'))];
}

/** What a call tells: content, names, links' targets are those of the root. */
async function outcome(files: LocalFileSystem, call: string, path: FilePath): Promise<string> {
  const as = (side: string) => ({ [`${side}_path_base64`]: path.path_base64 });
  try {
    if (call === 'read') return (await bytesOf(files.readFile(path))).toString();
    if (call === 'write') await files.writeFile(path, Buffer.from('inside'), { create_parents: true });
    if (call === 'list') return (await files.readDirectory(path, { depth: 3 })).entries.map((entry) => entry.path).join();
    if (call === 'metadata') return (await files.getMetadata(path, { follow_symlinks: true })).type;
    if (call === 'create') await files.createDirectory(path, { recursive: true });
    if (call === 'remove') await files.remove(path, { recursive: true });
    if (call === 'copyFrom') await files.copy({ ...as('source'), destination_path: 'a/b/taken', recursive: true, overwrite: true });
    if (call === 'copyTo') await files.copy({ source_path: 'file', ...as('destination'), overwrite: true });
    if (call === 'moveFrom') await files.move({ ...as('source'), destination_path: 'a/b/taken', overwrite: true });
    if (call === 'moveTo') await files.move({ source_path: 'file', ...as('destination'), overwrite: true });
    return call;
  } catch (error) {
    expect(error).toMatchObject({ name: 'GatewayError' });
    expect(error).not.toMatchObject({ code: 'file_error' });
    return (error as { code: string }).code;
  }
}
