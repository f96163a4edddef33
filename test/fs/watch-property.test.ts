import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileRoot } from '../../src/fs/file-root.js';
import { FileWatches } from '../../src/fs/file-watches.js';
import type { WatchFilesOptions } from '../../src/protocol/index.js';
import { codeOf } from '../support/told.js';
import { listing, Mirror } from './watch-replay.js';

const run = promisify(execFile);

let dir = '';
let watches: FileWatches;
const sh = (script: string) => run('sh', ['-c', script], { cwd: dir });
const shSync = (script: string) => spawnSync('sh', ['-c', script], { cwd: dir });

async function watch(options: WatchFilesOptions = {}): Promise<Mirror> {
  return new Mirror(await watches.read({ path: dir }, options), dir, options.recursive ?? false);
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'watch-'));
  watches = new FileWatches(new FileRoot());
});

afterEach(() => {
  watches.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('any changes', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
  const operation = fc.oneof(
    path.map((at) => `mkdir -p ${at}`),
    path.map((at) => `echo x >> ${at}`),
    path.map((at) => `rm -rf ${at}`),
    path.map((at) => `ln -sfn target ${at}`),
    fc.tuple(path, path).map(([from, to]) => `mv -T ${from} ${to}`),
    fc.tuple(path, path).map(([from, to]) => `cp -r ${from} ${to}`),
  );

  it.each([true, false])('what is told, applied to the first listing, gives the last one (recursive: %s)', async (recursive) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { minLength: 1, maxLength: 25 }),
        fc.array(operation, { maxLength: 10 }),
        async (during, before) => {
          rmSync(dir, { recursive: true });
          spawnSync('mkdir', [dir]);
          shSync(`(${before.join('\n')}\n) 2>/dev/null`);
          const mirror = await watch({ recursive });
          await mirror.until(({ event }) => event === 'ready');
          await sh(`(${during.join('\n')}\n) 2>/dev/null; true`);
          await mirror.caughtUp();
          expect([...mirror.files].sort()).toEqual([...listing(dir, recursive)].sort());
          await mirror.leave();
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('a file root', () => {
  it('is not left by a watch, whatever is swapped for a link', async () => {
    shSync('mkdir -p root/d/e outside/e; : > root/d/x; : > outside/secret; : > outside/e/secret');
    const root = join(dir, 'root');
    const confined = new FileWatches(new FileRoot(root));
    const mirror = new Mirror(await confined.read({ path: '.' }, { recursive: true }), root, true);
    await mirror.until(({ event }) => event === 'ready');
    const swap =
      'mv root/d root/away; ln -s ../outside root/d; echo s >> outside/secret; : > outside/e/new; rm outside/e/new root/d; mv root/away root/d';
    await sh(`for i in $(seq 150); do ${swap}; done`);
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(root, true));
    expect(mirror.told.length).toBeGreaterThan(10); // how many depends on how fast the links are swapped
    expect(mirror.told.filter((change) => 'path' in change && /secret|new/.test(change.path))).toEqual([]);
    confined.close();
  });

  it('nothing outside of it can be watched', async () => {
    shSync('mkdir root outside; ln -s ../outside root/link');
    const confined = new FileWatches(new FileRoot(join(dir, 'root')));
    for (const path of ['..', '../outside', 'link', dir, '/']) {
      expect(await codeOf(confined.read({ path })), path).toBe('path_outside_root');
    }
    confined.close();
  });
});
