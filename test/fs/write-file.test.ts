import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, litter, ROOTS, Scratch } from './scratch.js';

const text = (value: string) => Buffer.from(value);

/** A body that comes in parts, and does what `between` says after each. */
async function* parts(values: string[], between: (i: number) => unknown = () => undefined): AsyncGenerator<Uint8Array> {
  for (const [i, value] of values.entries()) {
    yield text(value);
    await between(i);
  }
}

describe.each(ROOTS)('%s', (kind) => {
  const scratch = new Scratch(kind);
  const read = (name: string) => readFileSync(scratch.path(name), 'utf8');

  test('a file is made and replaced', async () => {
    const { files } = scratch;
    const made = await files.writeFile(scratch.at('f'), parts(['one ', '', 'two']));
    expect(made).toMatchObject({ created: true, metadata: { type: 'file', size_bytes: 7 } });
    expect(made.metadata).toEqual(await files.getMetadata(scratch.at('f')));
    const replaced = await files.writeFile(scratch.at('f'), text('three'));
    expect(replaced).toMatchObject({ created: false, metadata: { size_bytes: 5 } });
    expect(replaced.metadata.etag).not.toBe(made.metadata.etag);
    expect([read('f'), readdirSync(scratch.path(''))]).toEqual(['three', ['f']]);
  });

  test('the directories above are made when asked for', async () => {
    const { files } = scratch;
    expect(await codeOf(files.writeFile(scratch.at('a/b/f'), text('1')))).toBe('path_not_found');
    expect(readdirSync(scratch.path(''))).toEqual([]);
    await files.writeFile(scratch.at('a/b/f'), text('1'), { create_parents: true });
    await files.writeFile(scratch.at('a/c/./d//f'), text('2'), { create_parents: true });
    expect([read('a/b/f'), read('a/c/d/f')]).toEqual(['1', '2']);
    expect(await codeOf(files.writeFile(scratch.at('a/b/f/g'), text('1'), { create_parents: true }))).toBe('not_a_directory');
  });

  test('names of 255 bytes and names that are not UTF-8 are written', async () => {
    const { files } = scratch;
    for (const name of ['é'.repeat(127), 'n'.repeat(255)]) await files.writeFile(scratch.at(name), text(name));
    const odd = Buffer.concat([text(`${scratch.path('')}/`), Buffer.alloc(200, 0xff)]);
    await files.writeFile({ path_base64: odd.toString('base64') }, text('odd'));
    expect(readFileSync(odd, 'utf8')).toBe('odd');
    expect(await codeOf(files.writeFile(scratch.at('n'.repeat(256)), text('')))).toBe('path_too_long');
    expect(litter(scratch.path(''))).toEqual([]);
  });

  test('B56: mode and owner stay, a new file has 0666 less the umask, mode sets it', async () => {
    const { files } = scratch;
    const mode = (name: string) => statSync(scratch.path(name)).mode & 0o7777;
    for (const [name, bits] of [
      ['script', 0o755],
      ['private', 0o600],
      ['set-id', 0o6755],
    ] as const) {
      writeFileSync(scratch.path(name), 'old');
      chownSync(scratch.path(name), 1234, 2345);
      chmodSync(scratch.path(name), bits);
      await files.writeFile(scratch.at(name), text('new'));
      expect([mode(name), statSync(scratch.path(name)).uid, statSync(scratch.path(name)).gid]).toEqual([bits, 1234, 2345]);
    }
    const umask = process.umask(0o027);
    try {
      await files.writeFile(scratch.at('new'), text('new'));
      await files.writeFile(scratch.at('exact'), text('new'), { mode: 0o666 });
      await files.writeFile(scratch.at('script'), text('new'), { mode: 0o700 });
    } finally {
      process.umask(umask);
    }
    expect([mode('new'), mode('exact'), mode('script')]).toEqual([0o640, 0o666, 0o700]);
  });

  test('B56: a link stays, its target is written; a dangling one gets its target', async () => {
    const { files } = scratch;
    mkdirSync(scratch.path('d'));
    writeFileSync(scratch.path('d/target'), 'old');
    symlinkSync('d/target', scratch.path('link'));
    symlinkSync('link', scratch.path('second'));
    symlinkSync('d/new', scratch.path('dangling'));
    await files.writeFile(scratch.at('second'), text('new'));
    expect(await files.writeFile(scratch.at('dangling'), text('made'))).toMatchObject({ created: true });
    expect([read('d/target'), read('d/new'), readlinkSync(scratch.path('link'))]).toEqual(['new', 'made', 'd/target']);
    expect(readdirSync(scratch.path('d')).sort()).toEqual(['new', 'target']);
  });

  test('B56: other names of a file keep the old content', async () => {
    writeFileSync(scratch.path('a'), 'old');
    linkSync(scratch.path('a'), scratch.path('b'));
    await scratch.files.writeFile(scratch.at('a'), text('new'));
    expect([read('a'), read('b')]).toEqual(['new', 'old']);
  });

  test('a failed or aborted body leaves the old file and no litter', async () => {
    const { files } = scratch;
    writeFileSync(scratch.path('f'), 'old');
    const before = lstatSync(scratch.path('f'), { bigint: true });
    const fail = (name: string) =>
      files.writeFile(
        scratch.at(name),
        parts(['x', 'y'], () => {
          throw Object.assign(new Error('cut'), { code: 'ECONNRESET', syscall: 'read' });
        }),
      );
    await expect(fail('f')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(fail('new')).rejects.toThrow('cut');

    for (const hangs of [false, true]) {
      const abort = new AbortController();
      const body = parts(['x', 'y'], () => {
        abort.abort(new Error('given up'));
        return hangs && new Promise(() => undefined);
      });
      await expect(files.writeFile(scratch.at('f'), body, { signal: abort.signal })).rejects.toThrow('given up');
    }
    expect(readdirSync(scratch.path(''))).toEqual(['f']);
    expect(lstatSync(scratch.path('f'), { bigint: true })).toEqual(before);
  });

  test('conditions hold the write to what the caller knows', async () => {
    const { files } = scratch;
    const write = (options: object, name = 'f') =>
      codeOf(files.writeFile(scratch.at(name), text('x'), options).then(({ created }) => created));
    expect(await write({ if_match: '*' })).toBe('precondition_failed');
    expect(await write({ if_match: ['"a"'] })).toBe('precondition_failed');
    expect(await write({ if_none_match: ['"a"'] })).toBe(true);
    const etag = (await files.getMetadata(scratch.at('f'))).etag as string;
    expect(await write({ if_none_match: '*' })).toBe('precondition_failed');
    expect(await write({ if_none_match: [etag] })).toBe('precondition_failed');
    expect(await write({ if_match: ['"a"'] })).toBe('precondition_failed');
    expect(await write({ if_match: `a${etag}` })).toBe('precondition_failed');
    expect(await write({ if_none_match: etag })).toBe('precondition_failed');
    expect(await write({ if_match: ['"a"', etag] })).toBe(false);
    expect(await write({ if_match: [etag] })).toBe('precondition_failed');
    expect(await write({ if_match: '*' })).toBe(false);
    expect(await write({ if_none_match: '*' }, 'new')).toBe(true);
    expect(readdirSync(scratch.path('')).sort()).toEqual(['f', 'new']);
  });

  test('a condition that cannot hold is told before the body is read, and again when it stopped to hold meanwhile', async () => {
    const { files } = scratch;
    writeFileSync(scratch.path('f'), 'old');
    let read = 0;
    const body = () => parts(['x', 'y'], (i) => i === 0 && writeFileSync(scratch.path('f'), `theirs ${++read}`));
    expect(await codeOf(files.writeFile(scratch.at('f'), body(), { if_match: ['"a"'] }))).toBe('precondition_failed');
    expect(read).toBe(0);
    const etag = (await files.getMetadata(scratch.at('f'))).etag as string;
    expect(await codeOf(files.writeFile(scratch.at('f'), body(), { if_match: [etag] }))).toBe('precondition_failed');
    expect(readFileSync(scratch.path('f'), 'utf8')).toBe('theirs 1');
    const create = files.writeFile(
      scratch.at('new'),
      parts(['x'], () => writeFileSync(scratch.path('new'), 'theirs')),
      { if_none_match: '*' },
    );
    expect(await codeOf(create)).toBe('precondition_failed');
    expect([readFileSync(scratch.path('new'), 'utf8'), litter(scratch.path(''))]).toEqual(['theirs', []]);
  });

  test('of writers with one condition one succeeds; no update is lost and none are mixed', async () => {
    const { files } = scratch;
    for (let round = 0; round < 30; round++) {
      const { metadata } = await files.writeFile(scratch.at('f'), text(`${round}`));
      const bodies = ['a', 'b', 'c', 'd'].map((name) => Array.from({ length: 5 }, () => name.repeat(1000)));
      const outcomes = await Promise.all(
        bodies.map((body) =>
          codeOf(files.writeFile(scratch.at('f'), parts(body), { if_match: [metadata.etag as string] }).then(() => body.join(''))),
        ),
      );
      const won = outcomes.filter((outcome) => outcome !== 'precondition_failed');
      expect(won).toEqual([read('f')]);
    }
    const news = await Promise.all(
      ['a', 'b', 'c'].map((name) => codeOf(files.writeFile(scratch.at('new'), text(name), { if_none_match: '*' }).then(() => name))),
    );
    expect(news.filter((outcome) => outcome !== 'precondition_failed')).toEqual([read('new')]);
    expect(litter(scratch.path(''))).toEqual([]);
  });

  test('each content has its own etag, however fast one follows the other', async () => {
    const { files } = scratch;
    const etags = new Set<string | null>();
    for (let i = 0; i < 300; i++) etags.add((await files.writeFile(scratch.at('f'), text('same size'))).metadata.etag);
    expect(etags.size).toBe(300);
  });

  test('a directory that became something else, or a target that became a link, is not written to', async () => {
    const { files } = scratch;
    const swap = files.writeFile(
      scratch.at('f'),
      parts(['x'], () => symlinkSync(scratch.outside('secret'), scratch.path('f'))),
    );
    expect(await codeOf(swap)).toBe('file_busy');
    expect(readFileSync(scratch.outside('secret'), 'utf8')).toBe('secret');
    const directory = files.writeFile(
      scratch.at('g'),
      parts(['x'], () => mkdirSync(scratch.path('g'))),
    );
    expect(await codeOf(directory)).toBe('is_a_directory');
    const fifo = files.writeFile(
      scratch.at('h'),
      parts(['x'], () => execFileSync('mkfifo', [scratch.path('h')])),
    );
    expect(await codeOf(fifo)).toBe('not_regular_file');
    expect(litter(scratch.path(''))).toEqual([]);
  });

  test('directories are made', async () => {
    const { files } = scratch;
    expect(await files.createDirectory(scratch.at('a'), { mode: 0o2777 })).toMatchObject({
      created: true,
      metadata: { type: 'directory', mode: 0o2777 },
    });
    expect(await codeOf(files.createDirectory(scratch.at('a')))).toBe('path_exists');
    expect(await codeOf(files.createDirectory(scratch.at('b/c')))).toBe('path_not_found');
    expect(await files.createDirectory(scratch.at('a'), { recursive: true, mode: 0o700 })).toMatchObject({
      created: false,
      metadata: { mode: 0o2777 },
    });
    expect(await files.createDirectory(scratch.at('b/c/d'), { recursive: true })).toMatchObject({ created: true });
    writeFileSync(scratch.path('f'), '');
    symlinkSync('a', scratch.path('link'));
    expect(await codeOf(files.createDirectory(scratch.at('f'), { recursive: true }))).toBe('path_exists');
    expect(await codeOf(files.createDirectory(scratch.at('f/x'), { recursive: true }))).toBe('not_a_directory');
    expect(await codeOf(files.createDirectory(scratch.at('link')))).toBe('path_exists');
    expect(await files.createDirectory(scratch.at('link'), { recursive: true })).toMatchObject({ created: false });
    expect(await codeOf(files.createDirectory(scratch.at('.')))).toBe('path_exists');
    expect(await files.createDirectory(scratch.at('.'), { recursive: true })).toMatchObject({ created: false });
    const all = await Promise.all(Array.from({ length: 8 }, () => files.createDirectory(scratch.at('p/q/r/s'), { recursive: true })));
    expect(all.filter(({ created }) => created)).toHaveLength(1);
  });
});
