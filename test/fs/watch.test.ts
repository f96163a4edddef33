import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileRoot } from '../../src/fs/file-root.js';
import { FileWatches } from '../../src/fs/file-watches.js';
import type { WatchFilesOptions } from '../../src/protocol/index.js';
import { until } from '../support/proc.js';
import { codeOf } from '../support/told.js';
import { listing, Mirror } from './watch-replay.js';

const run = promisify(execFile);

let dir = '';
let watches: FileWatches;
const sh = (script: string) => run('sh', ['-c', script], { cwd: dir });
const shSync = (script: string) => spawnSync('sh', ['-c', script], { cwd: dir });

async function watch(options: WatchFilesOptions = {}, path = dir): Promise<Mirror> {
  return new Mirror(await watches.read({ path }, options), path, options.recursive ?? false);
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'watch-'));
  watches = new FileWatches(new FileRoot());
});

afterEach(async () => {
  watches.close();
  // One that is looking right now ends with that.
  await until('nothing is watched', () => Object.values(watches.used).every((count) => count === 0));
  rmSync(dir, { recursive: true, force: true });
});

const brief = ({ told }: Mirror) =>
  told.map((change) => ('path' in change ? `${change.event} ${change.type} ${change.path}` : change.event));

describe('what is told', () => {
  it('each change once, by the shell', async () => {
    const mirror = await watch();
    await mirror.until(({ event }) => event === 'ready');
    for (const script of [
      'echo a > a',
      'echo b >> a',
      'mv a b',
      'ln -s b l',
      'mkdir d',
      'touch d/x',
      'chmod 600 b',
      'rm b',
      'rmdir d 2>/dev/null || rm -r d',
      'mkfifo p',
    ]) {
      await sh(script);
      await mirror.caughtUp();
    }
    expect(brief(mirror).filter((line) => !line.includes('.mark'))).toEqual([
      'ready',
      'created file a',
      'modified file a',
      'removed file a',
      'created file b',
      'created symlink l',
      'created directory d',
      'modified file b',
      'removed file b',
      'removed directory d',
      'created fifo p',
    ]);
  });

  it.each([1, 30])('a tree that is made at once is told whole, %i levels deep', async (depth) => {
    const mirror = await watch({ recursive: true });
    await mirror.until(({ event }) => event === 'ready');
    const path = Array.from({ length: depth }, (_, i) => `d${i}`).join('/');
    await sh(`mkdir -p ${path}; for i in 1 2 3 4 5; do echo $i > ${path}/f$i; done; mkdir ${path}/e; echo x > ${path}/e/x`);
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(dir, true));
    await sh('mv d0 elsewhere; echo y > elsewhere/y');
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(dir, true));
    await sh('rm -r elsewhere');
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(dir, true));
    expect(watches.used).toMatchObject({ directories: 1 });
  });

  it('a burst of 5,000 files in 100 directories, made and removed', async () => {
    const mirror = await watch({ recursive: true });
    await mirror.until(({ event }) => event === 'ready');
    const made = sh('for d in $(seq 100); do mkdir -p t/$d; for f in $(seq 50); do echo $f > t/$d/$f; done; done');
    await mirror.until((change) => 'path' in change);
    await made;
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(dir, true));
    expect(mirror.files.size).toBe(5_103);
    await sh('rm -r t');
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(dir, true));
  });

  it('names that are not UTF-8', async () => {
    const mirror = await watch({ recursive: true });
    await mirror.until(({ event }) => event === 'ready');
    await sh(`mkdir "$(printf 'd\\377')"; echo a > "$(printf 'd\\377/\\200')"`);
    await mirror.caughtUp();
    expect(mirror.files.get('d\xff/\x80')).toBe('file');
    expect(mirror.files).toEqual(listing(dir, true));
  });

  it('links are told and not entered', async () => {
    const other = mkdtempSync(join(tmpdir(), 'watch-other-'));
    const mirror = await watch({ recursive: true });
    await mirror.until(({ event }) => event === 'ready');
    await sh(`ln -s ${other} l; echo x > l/x`);
    await mirror.caughtUp();
    rmSync(other, { recursive: true });
    expect(mirror.files).toEqual(
      new Map([
        ['l', 'symlink'],
        ['.mark-0', 'file'],
        ['.mark-1', 'file'],
      ]),
    );
  });

  it('signs that the system dropped are told as an overflow, and all is watched again', async () => {
    const mirror = await watch({ recursive: true });
    await mirror.until(({ event }) => event === 'ready');
    // This program does not look while the shell works: the system's queue overflows.
    shSync('mkdir d; for i in $(seq 9000); do echo a > f$i; done; mkdir -p late/later; echo x > late/later/x; rm f1');
    await mirror.until(({ event }) => event === 'overflow');
    expect(mirror.files).toEqual(listing(dir, true));
    await sh('echo y > late/later/y');
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(dir, true));
  });
});

describe('the end of a directory', () => {
  it.each([
    ['removed', 'rm -r up/w'],
    ['renamed', 'mv up/w up/away'],
    ['replaced', 'mv up/w up/away; mkdir up/w'],
    ['left by a directory above it', 'mv up away'],
  ])('%s: it is told and over', async (_how, script) => {
    shSync('mkdir -p up/w/d');
    const mirror = await watch({ recursive: true }, join(dir, 'up/w'));
    await mirror.until(({ event }) => event === 'ready');
    await sh(script);
    expect(await mirror.until(({ event }) => event === 'ended')).toMatchObject({ code: 'path_not_found' });
    expect(await mirror.over()).toBe(true);
    expect(watches.used).toEqual({ watches: 0, directories: 0, entries: 0 });
  });

  it('removed while a program is in it: the system says nothing, and it is told all the same', async () => {
    shSync('mkdir w');
    const mirror = await watch({}, join(dir, 'w'));
    await mirror.until(({ event }) => event === 'ready');
    using _program = programIn(join(dir, 'w'));
    await sh('rmdir w');
    expect(await mirror.until(({ event }) => event === 'ended')).toMatchObject({ code: 'path_not_found' });
  });

  it('one below that is replaced while a program is in it is watched on', async () => {
    shSync('mkdir -p d/e');
    const mirror = await watch({ recursive: true });
    await mirror.until(({ event }) => event === 'ready');
    using _program = programIn(join(dir, 'd/e'));
    await sh('rm -r d; mkdir -p d/e; echo x > d/e/x');
    await mirror.caughtUp();
    await sh('echo y > d/e/y');
    await mirror.caughtUp();
    expect(mirror.files).toEqual(listing(dir, true));
  });

  /** A program that has a directory as its working directory. */
  function programIn(cwd: string): Disposable {
    const child = spawn('cat', { cwd, stdio: ['pipe', 'ignore', 'ignore'] });
    return { [Symbol.dispose]: () => child.stdin.end() };
  }
});

describe('readers', () => {
  it('one that comes back goes on where it was', async () => {
    const first = await watch();
    await first.until(({ event }) => event === 'ready');
    await sh('echo a > a');
    await first.caughtUp();
    await first.leave();
    await sh('echo b > b');
    const second = await watch({ after_id: first.last_id });
    await second.until((change) => 'path' in change && change.path === 'b');
    expect(brief(second)).toEqual(['created file b']);
    expect(watches.used.watches).toBe(1);
  });

  it('an id of another watch is told as an overflow', async () => {
    const first = await watch();
    await first.until(({ event }) => event === 'ready');
    const other = await watch({ recursive: true, after_id: first.last_id });
    expect(await other.until(() => true)).toMatchObject({ event: 'overflow', reason: 'unknown_id' });
    await sh('echo a > a');
    await other.caughtUp();
    expect(other.files).toEqual(listing(dir, true));
  });

  it('one that does not read is told what it missed', async () => {
    const slow = await watch();
    await slow.until(({ event }) => event === 'ready');
    const fast = await watch();
    await fast.until(({ event }) => event === 'ready');
    const long = 'x'.repeat(200);
    for (let round = 0; round < 6; round++) {
      await sh(`for i in $(seq 2500); do : > ${long}${round}-$i; done`);
      await fast.caughtUp();
    }
    await slow.until(({ event }) => event === 'overflow');
    expect(slow.told).toHaveLength(2);
    expect(slow.files).toEqual(listing(dir, false));
  });

  it('each of many leaves nothing behind', async () => {
    shSync('mkdir -p a/b c');
    const before = descriptors();
    for (let round = 0; round < 50; round++) {
      const leave = new AbortController();
      const mirror = new Mirror(await watches.read({ path: dir }, { recursive: true, signal: leave.signal }), dir, true);
      await mirror.until(({ event }) => event === 'ready');
      if (round % 2) leave.abort();
      else await mirror.leave();
      expect(await mirror.over()).toBe(true);
    }
    expect(watches.used).toEqual({ watches: 1, directories: 4, entries: 3 });
    expect(descriptors()).toBeLessThanOrEqual(before + 1); // that of inotify itself stays
  });

  it('a watch that nobody comes back to ends', async () => {
    shSync('mkdir -p a/b c');
    const brief = new FileWatches(new FileRoot(), 100);
    const before = systemWatches();
    const leave = new AbortController();
    const mirror = new Mirror(await brief.read({ path: dir }, { recursive: true, signal: leave.signal }), dir, true);
    await mirror.until(({ event }) => event === 'ready');
    expect(systemWatches()).toBe(before + 4);
    leave.abort();
    expect(systemWatches()).toBe(before + 4);
    await until('it is over', () => brief.used.watches === 0);
    expect(brief.used).toEqual({ watches: 0, directories: 0, entries: 0 });
    expect(systemWatches()).toBe(before);
    brief.close();
  });

  it('one given up while it is set lingers, and ends', async () => {
    shSync('mkdir -p a/b c');
    const brief = new FileWatches(new FileRoot(), 100);
    const leave = new AbortController();
    const given = brief.read({ path: dir }, { recursive: true, signal: leave.signal });
    leave.abort(new Error('I left.'));
    await expect(given).rejects.toThrow('I left.');
    await until('it is over', () => Object.values(brief.used).every((count) => count === 0));
    brief.close();
  });

  it('64 directories are watched at most; one without readers makes room', async () => {
    shSync('mkdir $(seq 66)');
    const readers: Mirror[] = [];
    for (let i = 1; i <= 64; i++) readers.push(await watch({}, join(dir, String(i))));
    expect(await codeOf(watches.read({ path: join(dir, '65') }))).toBe('too_many_watches');
    await readers[0]?.leave();
    await watch({}, join(dir, '65'));
    expect(await codeOf(watches.read({ path: join(dir, '66') }))).toBe('too_many_watches');
    expect(watches.used).toMatchObject({ watches: 64 });
  });

  /** Directories that the system watches for this program (proc(5), fdinfo). */
  const systemWatches = () =>
    readdirSync('/proc/self/fdinfo')
      .map((fd) => tried(() => readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')).match(/^inotify wd/gm)?.length ?? 0)
      .reduce((sum, count) => sum + count, 0);

  const descriptors = () =>
    readdirSync('/proc/self/fd').filter((fd) => /inotify|watch-/.test(tried(() => readlinkSync(`/proc/self/fd/${fd}`)))).length;
  const tried = (look: () => string) => {
    try {
      return look();
    } catch {
      return '';
    }
  };
});
