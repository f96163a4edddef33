import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RemoteFileSystem } from '../../src/client/remote-file-system.js';
import type { FileChange, WatchFilesOptions } from '../../src/protocol/index.js';
import { listing, Mirror } from '../fs/watch-replay.js';
import { BACKENDS, useBackend } from '../support/backends.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { codeOf } from '../support/told.js';

const run = promisify(execFile);

describe.each(BACKENDS)('%s', (name) => {
  const backend = useBackend(name);
  let dir = '';
  const sh = (script: string) => run('sh', ['-c', script], { cwd: dir });

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'watched-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  async function watch(options: WatchFilesOptions = {}, path = dir): Promise<Mirror> {
    return new Mirror(await backend.files.watch({ path }, options), path, options.recursive ?? false);
  }

  const changes = ({ told }: Mirror) => told.flatMap((change) => ('path' in change && !change.path.startsWith('.mark') ? [change] : []));

  it('a file that comes, changes and goes', async () => {
    const mirror = await watch();
    expect(await mirror.until(() => true)).toMatchObject({ event: 'ready', directories: 1, unreadable: 0 });
    for (const script of ['echo a > a', 'echo b >> a', 'rm a']) {
      await sh(script);
      await mirror.caughtUp();
    }
    expect(changes(mirror)).toEqual(
      ['created', 'modified', 'removed'].map((event) => ({
        event,
        id: expect.stringMatching(/^[a-z0-9]{12}-[0-9]+$/),
        path: 'a',
        path_base64: null,
        type: 'file',
        error: null,
      })),
    );
    await mirror.leave();
  });

  it('a file that is replaced by a write of this product is told as changed, and nothing else', async () => {
    writeFileSync(join(dir, 'a'), 'old');
    const mirror = await watch();
    await mirror.until(({ event }) => event === 'ready');
    await backend.files.writeFile({ path: join(dir, 'a') }, Buffer.from('new'));
    await mirror.caughtUp();
    expect(changes(mirror)).toMatchObject([{ event: 'modified', path: 'a' }]);
    await mirror.leave();
  });

  it('below the first level only on request', async () => {
    mkdirSync(join(dir, 'd'));
    const [flat, deep] = [await watch(), await watch({ recursive: true })];
    for (const mirror of [flat, deep]) await mirror.until(({ event }) => event === 'ready');
    await sh('echo a > d/a; mkdir -p d/e/f; echo b > d/e/f/b');
    await flat.caughtUp();
    await deep.caughtUp();
    expect(changes(flat)).toEqual([]);
    expect(changes(deep).map(({ path }) => path)).toEqual(['d/a', 'd/e', 'd/e/f', 'd/e/f/b']);
    expect(deep.files).toEqual(listing(dir, true));
    await flat.leave();
    await deep.leave();
  });

  it('5,000 files at once, as from a checkout, and all gone again', async () => {
    const mirror = await watch({ recursive: true });
    await mirror.until(({ event }) => event === 'ready');
    await sh('for d in $(seq 50); do mkdir -p t/$d; for f in $(seq 100); do echo $f > t/$d/$f; done; done; mv t u');
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(dir, true));
    expect(mirror.files.size).toBeGreaterThan(5_000);
    await sh('rm -r u');
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(dir, true));
    await mirror.leave();
  });

  it('a name that is not UTF-8', async () => {
    const mirror = await watch();
    await mirror.until(({ event }) => event === 'ready');
    await sh(`: > "$(printf 'x\\377')"`);
    await mirror.caughtUp();
    expect(changes(mirror)[0]).toMatchObject({ path: 'x\ufffd', path_base64: Buffer.from('x\xff', 'latin1').toString('base64') });
    await mirror.leave();
  });

  it('one that comes back goes on after the last id, and an id that is none of this watch is told as an overflow', async () => {
    const first = await watch();
    await first.until(({ event }) => event === 'ready');
    await first.caughtUp();
    await first.leave();
    await sh('echo a > a; echo b > b');
    const second = await watch({ after_id: first.last_id });
    await second.until((change) => 'path' in change && change.path === 'b');
    expect(second.told.map((change: FileChange) => [change.event, 'path' in change && change.path])).toEqual([
      ['created', 'a'],
      ['created', 'b'],
    ]);
    const earlier = `000000000000-${first.last_id.split('-')[1]}`;
    const third = await watch({ after_id: earlier });
    expect(await third.until(() => true)).toMatchObject({ event: 'overflow', reason: 'unknown_id' });
    await second.leave();
    await third.leave();
  });

  it('a directory that is removed: told, and over', async () => {
    const path = join(dir, 'w');
    mkdirSync(path);
    const mirror = await watch({ recursive: true }, path);
    await mirror.until(({ event }) => event === 'ready');
    await sh('rm -r w');
    expect(await mirror.until(({ event }) => event === 'ended')).toMatchObject({ code: 'path_not_found' });
    expect(await mirror.over()).toBe(true);
  });

  it('what cannot be watched is refused', async () => {
    writeFileSync(join(dir, 'file'), '');
    symlinkSync('loop', join(dir, 'loop'));
    expect(await codeOf(backend.files.watch({ path: join(dir, 'none') }))).toBe('path_not_found');
    expect(await codeOf(backend.files.watch({ path: join(dir, 'file') }))).toBe('not_a_directory');
    expect(await codeOf(backend.files.watch({ path: join(dir, 'loop') }))).toBe('symlink_loop');
    expect(await codeOf(backend.files.watch({ path: dir }, { after_id: 'x' }))).toBe('invalid_cursor');
    expect(await codeOf(backend.files.watch({}))).toBe('invalid_request');
  });

  it('a reader that leaves, or is given up, leaves no request behind', async () => {
    for (let round = 0; round < 10; round++) {
      const leave = new AbortController();
      const mirror = await watch({ recursive: true, signal: leave.signal });
      await mirror.until(({ event }) => event === 'ready');
      leave.abort();
      expect(await mirror.over()).toBe(true);
    }
  });
});

describe.each(BACKENDS.filter((name) => name !== 'local'))('%s, over a line that breaks', (name) => {
  const backend = useBackend(name, { flags: ['--allow-host', '127.0.0.1'] });

  it('misses nothing', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'watched-'));
    const { url, token } = backend.servers.at(-1)!;
    await using proxy = await CuttingProxy.open(url, (count) => (count < 40 ? 700 + 40 * count : null));
    const files = new RemoteFileSystem({ url: proxy.url, token: token ?? undefined, retry: { first_delay_ms: 1, max_delay_ms: 20 } });
    const mirror = new Mirror(await files.watch({ path: dir }, { recursive: true }), dir, true);
    await mirror.until(({ event }) => event === 'ready');
    await run('sh', ['-c', 'for d in $(seq 10); do mkdir -p t/$d; for f in $(seq 20); do echo $f > t/$d/$f; done; done; rm -r t/3 t/4'], {
      cwd: dir,
    });
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(dir, true));
    expect(mirror.overflows).toBe(0);
    expect(proxy.cuts).toBeGreaterThan(5);
    await mirror.leave();
    rmSync(dir, { recursive: true });
  });
});
