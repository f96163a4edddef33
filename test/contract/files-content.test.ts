import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReadFileOptions, WriteFileOptions } from '../../src/protocol/index.js';
import { BACKENDS, useBackend } from '../support/backends.js';
import { bytesOf, parts } from '../support/file-bytes.js';
import { codeOf, errorOf } from '../support/told.js';

const MIB = 1024 * 1024;

describe.each(BACKENDS)('%s', (name) => {
  const backend = useBackend(name, { confined: true });
  const path = (below: string) => join(backend.root, below);
  const text = (below: string) => readFileSync(path(below), 'utf8');
  const read = async (below: string, options?: ReadFileOptions) => bytesOf(await backend.files.readFile({ path: path(below) }, options));
  const write = (below: string, content: string | AsyncIterable<Uint8Array>, options?: WriteFileOptions) =>
    backend.files.writeFile({ path: path(below) }, typeof content === 'string' ? Buffer.from(content) : content, options);

  beforeEach(() => mkdirSync(backend.root, { recursive: true }));
  afterEach(() => {
    for (const entry of readdirSync(backend.root)) rmSync(path(entry), { recursive: true, force: true });
  });

  it('a file is made, read, replaced, and told the same by all calls', async () => {
    const made = await write('a', parts('one ', '', 'two'));
    expect(made).toMatchObject({ created: true, metadata: { type: 'file', size_bytes: 7 } });
    expect(await backend.files.getMetadata({ path: 'a' })).toEqual(made.metadata);
    const content = await backend.files.readFile({ path: 'a' });
    expect([content.metadata, content.length, String(await bytesOf(content))]).toEqual([made.metadata, 7, 'one two']);
    const replaced = await write('a', 'three');
    expect(replaced).toMatchObject({ created: false, metadata: { size_bytes: 5 } });
    expect(replaced.metadata.etag).not.toBe(made.metadata.etag);
    expect([text('a'), readdirSync(backend.root)]).toEqual(['three', ['a']]);
  });

  it('bytes arrive as they were sent, however they are cut, and an empty file is one', async () => {
    const noise = randomBytes(MIB);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(300_000), fc.nat(300_000)), { maxLength: 6 }), async (cuts) => {
        const chunks = cuts.map(([from, length]) => noise.subarray(from, from + length));
        await write('b', parts(...chunks));
        expect((await read('b')).equals(Buffer.concat(chunks))).toBe(true);
      }),
      {
        numRuns: 20,
        examples: [
          [[]],
          [[[0, 0]]],
          [
            [
              [0, 0],
              [0, 1],
              [0, 0],
            ],
          ],
        ],
      },
    );
    await write('empty', '');
    const content = await backend.files.readFile({ path: path('empty') });
    expect([content.length, (await bytesOf(content)).length]).toEqual([0, 0]);
  });

  it('any range is the slice', async () => {
    const whole = randomBytes(700_000);
    writeFileSync(path('r'), whole);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.option(fc.nat(whole.length * 2), { nil: undefined }), async (offset, length) => {
        const content = await backend.files.readFile({ path: path('r') }, { offset, length });
        const slice = whole.subarray(offset, length === undefined ? undefined : offset + length);
        expect(content.length).toBe(slice.length);
        expect((await bytesOf(content)).equals(slice)).toBe(true);
      }),
      {
        numRuns: 50,
        examples: [
          [0, 0],
          [5, 0],
          [whole.length - 1, undefined],
          [0, whole.length],
        ],
      },
    );
    for (const offset of [whole.length, whole.length + 1]) {
      expect(await errorOf(read('r', { offset }))).toMatchObject({
        code: 'range_not_satisfiable',
        status: 416,
        fields: { size_bytes: whole.length },
      });
    }
  });

  it('only the content that is meant is read or replaced; of two writers one gets 412', async () => {
    const { etag } = (await write('c', 'one')).metadata as { etag: string };
    expect(String(await read('c', { if_match: etag }))).toBe('one');
    expect(String(await read('c', { if_match: etag, offset: 1, length: 1 }))).toBe('n');
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        write('c', `writer ${i}`, { if_match: [etag] }).then(
          () => i,
          (error) => error.code,
        ),
      ),
    );
    const won = outcomes.filter((outcome) => typeof outcome === 'number');
    expect([won.length, outcomes.filter((outcome) => outcome === 'precondition_failed').length]).toEqual([1, 7]);
    expect(text('c')).toBe(`writer ${won[0]}`);
    const now = await backend.files.getMetadata({ path: path('c') });
    expect(await errorOf(read('c', { if_match: etag }))).toMatchObject({
      code: 'precondition_failed',
      status: 412,
      fields: { etag: now.etag },
    });
    expect(await codeOf(write('c', 'x', { if_none_match: '*' }))).toBe('precondition_failed');
    expect(await codeOf(write('c', 'x', { if_none_match: [now.etag as string] }))).toBe('precondition_failed');
    expect(await codeOf(write('none', 'x', { if_match: '*' }))).toBe('precondition_failed');
    expect(await write('new', 'x', { if_none_match: '*' })).toMatchObject({ created: true });
    expect(await write('c', 'y', { if_none_match: ['"other"'], if_match: '*' })).toMatchObject({ created: false });
    expect([text('c'), readdirSync(backend.root).sort()]).toEqual(['y', ['c', 'new']]);
  });

  it('B56 mode, link and other names: what stays', async () => {
    const mode = (below: string) => statSync(path(below)).mode & 0o7777;
    for (const [file, bits] of [
      ['script', 0o755],
      ['private', 0o600],
    ] as const) {
      writeFileSync(path(file), 'old');
      chmodSync(path(file), bits);
      await write(file, 'new');
      expect([mode(file), text(file)]).toEqual([bits, 'new']);
    }
    symlinkSync('script', path('link'));
    linkSync(path('script'), path('other-name'));
    await write('link', 'through');
    expect([readlinkSync(path('link')), text('script'), text('other-name'), mode('script')]).toEqual(['script', 'through', 'new', 0o755]);
    await write('exact', 'x', { mode: 0o604 });
    await write('private', 'x', { mode: 0o640 });
    expect([mode('exact'), mode('private')]).toEqual([0o604, 0o640]);
    expect(await codeOf(write('a/b/c', 'x'))).toBe('path_not_found');
    await write('a/b/c', 'x', { create_parents: true });
    expect(text('a/b/c')).toBe('x');
  });

  it('B27 a body that fails, or is given up, leaves the old file and no litter', async () => {
    writeFileSync(path('kept'), 'old');
    const before = statSync(path('kept'), { bigint: true });
    for (const below of ['kept', 'fresh']) {
      const failing = async function* () {
        yield randomBytes(3 * MIB);
        throw new Error('the source broke');
      };
      await expect(write(below, failing())).rejects.toThrow('the source broke');
      const giving_up = new AbortController();
      const endless = async function* () {
        yield randomBytes(3 * MIB);
        giving_up.abort(new Error('given up'));
        await new Promise(() => {});
      };
      await expect(write(below, endless(), { signal: giving_up.signal })).rejects.toThrow('given up');
    }
    await expect.poll(() => readdirSync(backend.root)).toEqual(['kept']);
    expect([text('kept'), statSync(path('kept'), { bigint: true }).mtimeNs]).toEqual(['old', before.mtimeNs]);
  });

  it('B28 B40 special files are refused at once, and hold nobody up', async () => {
    execFileSync('mkfifo', [path('fifo')]);
    writeFileSync(path('plain'), 'plain');
    const refused = Array.from({ length: 8 }, () => codeOf(read('fifo')));
    expect(String(await read('plain'))).toBe('plain');
    expect(new Set(await Promise.all([...refused, codeOf(write('fifo', 'x'))]))).toEqual(new Set(['not_regular_file']));
    expect(await backend.files.getMetadata({ path: path('fifo') })).toMatchObject({ type: 'fifo', etag: null });
    expect(await codeOf(read(''))).toBe('is_a_directory');
    expect(await codeOf(write('', 'x'))).toBe('is_a_directory');
    expect(await errorOf(read('nothing'))).toMatchObject({ code: 'path_not_found', status: 404 });
    expect(await codeOf(read('plain/x'))).toBe('not_a_directory');
  });

  it('a reader that leaves, at once, in the middle or by an abort, holds nothing open', async () => {
    writeFileSync(path('large'), randomBytes(20 * MIB));
    await (await backend.files.readFile({ path: path('large') })).close();
    for await (const bytes of (await backend.files.readFile({ path: path('large') })).body) {
      expect(bytes.length).toBeGreaterThan(0);
      break;
    }
    const leaving = new AbortController();
    const { body } = await backend.files.readFile({ path: path('large') }, { signal: leaving.signal });
    const reading = (async () => {
      for await (const bytes of body) if (bytes.length > 0) leaving.abort(new Error('enough'));
    })();
    await expect(reading).rejects.toThrow('enough');
    const open = () => backend.pids.flatMap((pid) => readdirSync(`/proc/${pid}/fd`).filter((fd) => target(pid, fd) === path('large')));
    await expect.poll(open).toEqual([]);
  });

  it('a file that shrinks while it is read does not look whole', async () => {
    writeFileSync(path('shrinks'), randomBytes(64 * MIB));
    const { body } = await backend.files.readFile({ path: path('shrinks') });
    const reading = (async () => {
      let first = true;
      for await (const _ of body) {
        if (first) truncateSync(path('shrinks'), MIB);
        first = false;
      }
    })();
    await expect(reading).rejects.toMatchObject({ name: 'GatewayError' });
  });

  it('names of all kinds: not UTF-8, spaces, percent signs, plus signs, quotes', async () => {
    const odd = Buffer.concat([Buffer.from(`${backend.root}/`), Buffer.from([0xff, 0xfe, 0x41])]);
    await backend.files.writeFile({ path_base64: odd.toString('base64') }, Buffer.from('odd'));
    expect(readFileSync(odd, 'utf8')).toBe('odd');
    expect(String(await bytesOf(await backend.files.readFile({ path_base64: odd.toString('base64') })))).toBe('odd');
    for (const below of ['a b', 'a+b', '100%', '%41', '%2e%2e', 'ü', 'q"q', "q'q", 'a&b=c#d?e', '..%2f', 'line\nbreak', '-', '~']) {
      await write(below, below);
      expect([text(below), String(await read(below))]).toEqual([below, below]);
    }
    for (const bad of [{}, { path: 'a', path_base64: 'YQ==' }]) {
      expect(await codeOf(backend.files.readFile(bad))).toBe('invalid_request');
    }
    for (const bad of ['', 'a\0b']) expect(await codeOf(backend.files.readFile({ path: bad }))).toBe('invalid_path');
    expect(await codeOf(backend.files.readFile({ path: 'n'.repeat(256) }))).toBe('path_too_long');
  });
});

function target(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return '';
  }
}
