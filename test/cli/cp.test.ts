import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { GatewayServer } from '../support/gateway-server.js';
import { settle, treeState } from '../support/tar.js';
import { bytesAt, CopyScene, modeOf } from './copy-scene.js';

const MIB = 1024 * 1024;
const scene = new CopyScene();
const { here, far, remote, start, cp, copies, fails, litter } = scene;

function makeTree(root: string): void {
  mkdirSync(join(root, 'd/empty'), { recursive: true });
  writeFileSync(join(root, 'a'), 'content of a');
  writeFileSync(join(root, 'd/script'), '#!/bin/sh\n', { mode: 0o750 });
  writeFileSync(join(root, 'd/big'), randomBytes(MIB));
  writeFileSync(join(root, 'ä %41 \n:x'), 'odd');
  writeFileSync(join(root, 'n'.repeat(200)), 'long');
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), 'not UTF-8');
  symlinkSync('../a', join(root, 'd/up'));
  symlinkSync('/etc/hostname', join(root, 'd/absolute'));
  symlinkSync('../../..', join(root, 'd/out'));
  symlinkSync('nowhere', join(root, 'dangling'));
  chmodSync(join(root, 'd/empty'), 0o500);
  chmodSync(root, 0o710);
  settle(root);
}

describe('a file', () => {
  test('goes up and comes down whole, with its mode, over what is there', async () => {
    const content = randomBytes(300_000);
    writeFileSync(here('f'), content, { mode: 0o751 });
    writeFileSync(far('new'), 'old');
    expect((await copies(['f', remote('new')])).toString()).toBe('');
    expect([bytesAt(far('new')).equals(content), modeOf(far('new'))]).toEqual([true, '751']);
    chmodSync(far('new'), 0o640);
    await copies([remote('new'), here('back')]);
    expect([bytesAt(here('back')).equals(content), modeOf(here('back'))]).toEqual([true, '640']);
    expect(litter()).toEqual([]);
  });

  test('keeps its name in a directory, is sent in parts when it is large, and may be empty, odd or of /proc', async () => {
    const content = randomBytes(17 * MIB);
    writeFileSync(here('large'), content, { mode: 0o604 });
    await copies(['large', remote('')]);
    expect([bytesAt(far('large')).equals(content), modeOf(far('large'))]).toEqual([true, '604']);
    writeFileSync(here(':ä %2e?&#'), '');
    await copies(['./:ä %2e?&#', `${remote('')}/`]);
    expect(bytesAt(far(':ä %2e?&#')).length).toBe(0);
    await copies([':/proc/self/status', '.']);
    expect(bytesAt(here('status')).toString()).toMatch(/^Name:/);
    symlinkSync('large', far('link'));
    await copies([remote('link'), 'followed']);
    expect(bytesAt(here('followed')).equals(content)).toBe(true);
  });

  test('a relative path begins at the file root, and --parents makes what is missing', async () => {
    const confined = await GatewayServer.start({ flags: ['--fs-root', far('')] });
    const env = { EXEC_GATEWAY_URL: confined.url, EXEC_GATEWAY_TOKEN: confined.token as string };
    try {
      writeFileSync(here('f'), 'f');
      await copies(['f', ':'], { env });
      await copies(['f', ':x/y/z', '--parents'], { env });
      await copies(['f', ':p/q/', '--parents'], { env });
      expect(['f', 'x/y/z', 'p/q/f'].map((name) => bytesAt(far(name)).toString())).toEqual(['f', 'f', 'f']);
      expect(await fails(['f', ':../f'], { env })).toMatch(/:\.\.\/f: .*leads out of the file root.* \[path_outside_root\]/);
    } finally {
      await confined.stop();
    }
  });
});

describe('a tree', () => {
  test('goes up and comes down the same: modes, times, links wherever they lead, odd names', async () => {
    makeTree(here('tree'));
    const out = JSON.parse((await copies(['-r', '--json', 'tree', remote('tree')])).toString());
    expect(out).toEqual({ files: 6, directories: 3, links: 4, bytes: MIB + 38, duration_ms: expect.any(Number), failed: [] });
    expect(treeState(far('tree'))).toEqual(treeState(here('tree')));
    expect(modeOf(far('tree'))).toBe('710');
    await copies(['-r', remote('tree'), 'back']);
    expect(treeState(here('back'))).toEqual(treeState(here('tree')));
    expect(modeOf(here('back'))).toBe('710');
  });

  test('keeps its name in a directory that is there, with or without slashes; "dir/." gives its content', async () => {
    mkdirSync(here('t/s'), { recursive: true });
    writeFileSync(here('t/s/f'), 'f');
    mkdirSync(far('x'));
    await copies(['-r', 't', remote('x')]);
    await copies(['-r', 't/', remote('x/')]);
    await copies(['-r', 't', remote('new/')]);
    await copies(['-r', 't/.', remote('x')]);
    await copies(['-r', '--parents', 't', remote('p/q')]);
    const names = (readdirSync(far(''), { recursive: true }) as string[]).filter((name) => name.endsWith('/f'));
    expect(names.sort()).toEqual(['new/s/f', 'p/q/s/f', 'x/s/f', 'x/t/s/f']);
  });

  test('is merged into one that is there, and nothing is written through a link in it', async () => {
    mkdirSync(here('t/d'), { recursive: true });
    writeFileSync(here('t/d/f'), 'new');
    mkdirSync(far('t/d'), { recursive: true });
    writeFileSync(far('t/d/f'), 'old');
    writeFileSync(far('t/kept'), 'kept');
    await copies(['-r', 't', remote('')]);
    expect([bytesAt(far('t/d/f')).toString(), bytesAt(far('t/kept')).toString()]).toEqual(['new', 'kept']);
    rmSync(far('t/d'), { recursive: true });
    mkdirSync(far('elsewhere'));
    symlinkSync('../elsewhere', far('t/d'));
    expect(await fails(['-r', 't', remote('')])).toMatch(/which is a link.*\[unsafe_archive_entry\] \(.*remove the link/);
    expect(readdirSync(far('elsewhere'))).toEqual([]);
  });
});

describe('"-"', () => {
  const every = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), randomBytes(2 * MIB), Buffer.from('\r\n')]);

  test.each([
    ['every byte', every],
    ['nothing', Buffer.alloc(0)],
  ])('takes %s in and gives it out, and nothing else', async (_name, input) => {
    await copies(['-', remote('f')], { input });
    expect(bytesAt(far('f')).equals(input)).toBe(true);
    expect((await copies([remote('f'), '-'])).equals(input)).toBe(true);
  });

  test('with -r it is a tar, both ways', async () => {
    makeTree(far('tree'));
    const tar = await copies(['-r', remote('tree'), '-']);
    execFileSync('tar', ['x', '-p', '-C', here('')], { input: tar });
    expect(treeState(here(''))).toEqual(treeState(far('tree')));
    await copies(['-r', '-', remote('again')], { input: tar });
    expect(treeState(far('again'))).toEqual(treeState(far('tree')));
    expect(await fails(['-r', '-', remote('x')], { input: every })).toMatch(/\[invalid_archive\]/);
  });

  test('a reader that leaves ends it', async () => {
    writeFileSync(far('big'), '');
    truncateSync(far('big'), 300 * MIB);
    const { child, ended } = start([remote('big'), '-']);
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^exec-gateway cp: -: whoever reads it has left. \[EPIPE\]\n$/),
    });
  });
});

describe('several sources', () => {
  beforeEach(() => {
    for (const name of ['one', 'two']) writeFileSync(far(name), name);
  });

  test('go into one directory; one that fails holds up none of the others', async () => {
    mkdirSync(here('all'));
    const { code, stdout, stderr } = await cp([remote('one'), remote('none'), remote('two'), 'all', '--json']);
    expect([code, readdirSync(here('all'))]).toEqual([1, ['one', 'two']]);
    const failed = [{ path: remote('none'), code: 'path_not_found', detail: expect.stringContaining('does not exist') }];
    expect(JSON.parse(stdout.toString())).toMatchObject({ files: 2, bytes: 6, failed });
    expect(stderr).toMatch(/^exec-gateway cp: :.*\/none: .* does not exist .*\[path_not_found\].*\n$/);
  });

  test('need one: a file is refused, and so is nothing unless --parents is given', async () => {
    writeFileSync(here('f'), 'precious');
    expect(await fails([remote('one'), remote('two'), 'f'])).toMatch(
      /^(exec-gateway cp: f: it is no directory, and has to be one. \[not_a_directory\]\n){2}$/,
    );
    expect(bytesAt(here('f')).toString()).toBe('precious');
    expect(await fails([remote('one'), remote('two'), 'new'])).toMatch(/new: there is no such directory. \[path_not_found\] \(.*--parents/);
    await copies([remote('one'), remote('two'), 'new', '--parents']);
    expect(readdirSync(here('new'))).toEqual(['one', 'two']);
  });
});

describe('from gateway to gateway', () => {
  test('the same one copies by itself, links are followed as ever, and nothing goes into itself', async () => {
    writeFileSync(far('f'), 'f', { mode: 0o640 });
    makeTree(far('tree'));
    symlinkSync('f', far('link'));
    await copies([remote('f'), remote('g')]);
    await copies([remote('link'), remote('h')]);
    expect([bytesAt(far('g')).toString(), modeOf(far('g')), bytesAt(far('h')).toString()]).toEqual(['f', '640', 'f']);
    const out = JSON.parse((await copies(['-r', '--json', remote('tree'), remote('copy')])).toString());
    expect(out).toMatchObject({ directories: 3, bytes: MIB + 38 });
    const contents = (name: string) => Object.entries(treeState(far(name))).map(([path, state]) => [path, state.replace(/ \d+n? ?/, ' ')]);
    expect(contents('copy').map(([path]) => path)).toEqual(contents('tree').map(([path]) => path));
    expect(await fails(['-r', remote('tree'), remote('tree/d/in')])).toMatch(/\[copy_into_itself\]/);
  });

  test('another one gets it through here, also over a unix socket', async () => {
    const socket = `unix:${join(scene.dir, 'socket')}`;
    const other = await GatewayServer.start({ flags: ['--listen', socket] });
    try {
      writeFileSync(join(scene.dir, 'token'), `${other.token}\n`);
      const to = ['--to-url', socket, '--to-token-file', join(scene.dir, 'token')];
      const content = randomBytes(17 * MIB);
      writeFileSync(far('large'), content);
      makeTree(far('tree'));
      await copies([remote('large'), remote('copy'), ...to]);
      expect(bytesAt(far('copy')).equals(content)).toBe(true);
      await copies(['-r', remote('tree'), remote('again'), ...to]);
      expect(treeState(far('again'))).toEqual(treeState(far('tree')));
      const over = { env: { EXEC_GATEWAY_URL: socket, EXEC_GATEWAY_TOKEN: '', EXEC_GATEWAY_TOKEN_FILE: join(scene.dir, 'token') } };
      expect((await copies([remote('copy'), '-'], over)).equals(content)).toBe(true);
      await copies(['-', remote('piped')], { ...over, input: content });
      expect(bytesAt(far('piped')).equals(content)).toBe(true);
      expect(await fails(['-', remote('')], { ...over, input: content })).toMatch(/is a directory.*\[is_a_directory\]/);
    } finally {
      await other.stop();
    }
  });
});
