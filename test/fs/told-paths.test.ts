import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { GatewayError } from '../../src/protocol/index.js';
import { ROOTS, Scratch } from './scratch.js';

const told = (call: Promise<unknown>): Promise<GatewayError> =>
  call.then(
    () => Promise.reject(new Error('it was done')),
    (error) => error,
  );

describe.each(ROOTS)('an error, %s', (kind) => {
  const scratch = new Scratch(kind);

  test('names the path as the caller gave it', async () => {
    const { files } = scratch;
    const path = scratch.path('./none');
    mkdirSync(scratch.path('d'));
    writeFileSync(scratch.path('f'), 'x');
    const given: [() => Promise<unknown>, string, string][] = [
      [() => files.readFile({ path }), 'path_not_found', path],
      [() => files.getMetadata({ path_base64: Buffer.from(path).toString('base64') }), 'path_not_found', path],
      [() => files.readDirectory(scratch.at('f')), 'not_a_directory', scratch.path('f')],
      [() => files.readFile(scratch.at('d')), 'is_a_directory', scratch.path('d')],
      [() => files.writeFile(scratch.at('d'), Buffer.from('x')), 'is_a_directory', scratch.path('d')],
      [() => files.createDirectory(scratch.at('d')), 'path_exists', scratch.path('d')],
      [() => files.createUpload(scratch.at('d'), 3), 'is_a_directory', scratch.path('d')],
      [() => files.writeFile(scratch.at('f'), Buffer.from('x'), { if_match: '"a"' }), 'precondition_failed', scratch.path('f')],
      [() => files.copy({ source_path: path, destination_path: scratch.path('to') }), 'path_not_found', path],
      [() => files.move({ source_path: scratch.path('f'), destination_path: scratch.path('d') }), 'path_exists', scratch.path('d')],
    ];
    for (const [call, code, at] of given) expect(await told(call())).toMatchObject({ code, fields: { path: at } });
  });

  test('says that the directory is missing, and what makes it', async () => {
    const { files } = scratch;
    const at = scratch.at('none/f');
    const above = /does not exist, and neither does the directory it would be in/;
    for (const call of [
      () => files.writeFile(at, Buffer.from('x')),
      () => files.createUpload(at, 3),
      () => files.writeArchive(at, Buffer.alloc(1024)),
    ]) {
      const { message, fields } = await told(call());
      expect([message, fields.path]).toEqual([expect.stringMatching(above), at.path]);
      expect(message).toContain('create_parents=true');
    }
    expect((await told(files.createDirectory(at))).message).toContain('recursive=true');
    expect((await told(files.readFile(at))).message).not.toContain('=true');
    expect((await told(files.writeFile(scratch.at('f/'), Buffer.from('x')))).message).not.toMatch(above);
  });

  test.each(['xz', 'bzip2', 'zip'])('of an archive in %s says what is taken, and nothing is made', async (name) => {
    const data = 'import sys,lzma,bz2,io,zipfile; z=io.BytesIO(); zipfile.ZipFile(z,"w").writestr("a","b")';
    const make = { xz: 'lzma.compress(b"x"*9000)', bzip2: 'bz2.compress(b"x"*9000)', zip: 'z.getvalue()' }[name];
    const body = execFileSync('python3', ['-c', `${data}; sys.stdout.buffer.write(${make})`]);
    const error = await told(scratch.files.writeArchive(scratch.at('a/b'), body, { create_parents: true }));
    expect(error).toMatchObject({ code: 'invalid_archive', message: expect.stringMatching(`with ${name}: .*plain.*gzip or zstd`) });
    expect(existsSync(scratch.path('a'))).toBe(false);
  });

  test.each(['no tar', 'x'.repeat(2000), ''])('of an archive that is none: nothing is made', async (text) => {
    const error = await told(scratch.files.writeArchive(scratch.at('a'), Buffer.from(text)));
    expect(error).toMatchObject({ code: 'invalid_archive', fields: { unpacked: { files: 0 } } });
    expect(existsSync(scratch.path('a'))).toBe(false);
  });
});

describe('a link that leads out of the root', () => {
  const scratch = new Scratch();

  test.each(['out', 'far', 'by'])('is told by its own path: %s', async (name) => {
    symlinkSync(scratch.outside('secret'), scratch.path('out'));
    symlinkSync('out', scratch.path('far'));
    symlinkSync('../outside/secret', scratch.path('by'));
    const error = await told(scratch.files.readFile({ path: name }));
    expect(error).toMatchObject({ code: 'path_outside_root', fields: { path: name }, message: expect.stringContaining(`"${name}"`) });
    expect(JSON.stringify(error.toProblem())).not.toMatch(/outside\/|secret/);
  });
});
