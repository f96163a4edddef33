import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { FileRoot } from '../../src/fs/file-root.js';
import { FileUploads } from '../../src/fs/file-uploads.js';
import type { LocalFileSystem } from '../../src/fs/local-file-system.js';
import { NameLock } from '../../src/fs/name-lock.js';
import type { FileChange } from '../../src/protocol/index.js';
import { gather } from '../support/tar.js';
import { codeOf, ROOTS, Scratch } from './scratch.js';

describe.each(ROOTS)('a write and an upload under way, %s', (kind) => {
  const scratch = new Scratch(kind);
  let files: LocalFileSystem;
  let finish: () => void;
  let written: Promise<unknown>;

  beforeEach(async () => {
    ({ files } = scratch);
    mkdirSync(scratch.path('tree/below'), { recursive: true });
    writeFileSync(scratch.path('tree/.hidden.exec-gateway-tmp'), 'of the user');
  });

  async function begin(): Promise<void> {
    await new Promise<void>((begun) => {
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const body = (async function* () {
        yield Buffer.from('half');
        begun();
        await finished;
      })();
      written = codeOf(files.writeFile(scratch.at('tree/below/written'), body));
    });
    await files.createUpload(scratch.at('tree/uploaded'), 10);
    expect(
      readdirSync(scratch.path('tree'), { recursive: true }).filter((name) =>
        /\..*\.[\w-]{12,}\.exec-gateway-(tmp|upload)$/.test(String(name)),
      ),
    ).toHaveLength(2);
  }

  async function end(): Promise<void> {
    finish();
    await written;
    await files.close();
  }

  test('are not listed, not copied, not archived and not found', async () => {
    await begin();
    const { entries } = await files.readDirectory(scratch.at('tree'), { depth: 3 });
    expect(entries.map(({ path }) => path)).toEqual(['.hidden.exec-gateway-tmp', 'below']);
    const copy = await files.copy({ source_path: scratch.path('tree'), destination_path: scratch.path('copy'), recursive: true });
    expect(copy).toMatchObject({ files: 1, directories: 2 });
    expect(readdirSync(scratch.path('copy'), { recursive: true })).toEqual(['.hidden.exec-gateway-tmp', 'below']);
    const tar = await gather(files.readArchive(scratch.at('tree')));
    expect(execFileSync('tar', ['t'], { input: tar }).toString()).toBe('.hidden.exec-gateway-tmp\nbelow/\n');
    const found: unknown[] = [];
    for await (const lines of await files.search(scratch.at('tree'), { glob: ['**'] })) found.push(...lines);
    expect(found).toMatchObject([{ path: '.hidden.exec-gateway-tmp' }, { path: 'below' }, { done: true }]);
    await end();
  });

  test('are not told of by a watch, which tells of the file when it is there', async () => {
    const told: FileChange[] = [];
    const watch = (await files.watch(scratch.at('tree'), { recursive: true }))[Symbol.asyncIterator]();
    const until = async (enough: (change: FileChange) => boolean) => {
      while (!told.some(enough)) told.push(...((await watch.next()).value as FileChange[]));
    };
    await until(({ event }) => event === 'ready');
    await begin();
    finish();
    await until((change) => 'path' in change && change.path === 'below/written');
    await watch.return?.();
    expect(told.flatMap((change) => ('path' in change ? [`${change.event} ${change.path}`] : []))).toEqual(['created below/written']);
    await end();
  });

  test('are removed with the tree that they are in', async () => {
    await begin();
    expect(await files.remove(scratch.at('tree'), { recursive: true })).toEqual({ removed: true });
    expect(readdirSync(scratch.path(''))).toEqual([]);
    await end();
    expect(await written).toBe('path_not_found');
  });
});

describe('what a gateway that was killed has left', () => {
  const scratch = new Scratch();

  test('is removed a day later with the first upload to its directory, tree or file, whatever time its content has', async () => {
    const left = ['.file.aaaaaaaaaaaa.exec-gateway-tmp', '.tree.aaaaaaaaaaaa.exec-gateway-tmp'] as const;
    const others = ['.exec-gateway-tmp', '.short.aaa.exec-gateway-tmp', 'plain.aaaaaaaaaaaa.exec-gateway-tmp'];
    mkdirSync(scratch.path(`${left[1]}/below`), { recursive: true });
    for (const name of [left[0], `${left[1]}/below/file`, ...others]) writeFileSync(scratch.path(name), '');
    utimesSync(scratch.path(left[0]), 1, 1);
    const upload = async (expiry_ms?: number) => {
      const uploads = new FileUploads(new FileRoot(scratch.path('')), NameLock.shared, expiry_ms);
      await uploads.create(scratch.at('new'), 0);
      uploads.close();
    };
    await upload();
    expect(readdirSync(scratch.path('')).sort()).toEqual([...others, ...left, 'new'].sort());
    await upload(-1);
    expect(readdirSync(scratch.path('')).sort()).toEqual([...others, 'new'].sort());
  });
});
