import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CopyScene } from './copy-scene.js';

/** Root reads everything, unless it gave that right away. */
const prefix = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'] : [];
const { gateway, here, far, remote, cp, litter } = new CopyScene({ prefix });

const names = (dir: string) => (readdirSync(dir, { recursive: true }) as string[]).sort();

/** A file and a directory that may not be read, among such that may; large ones, so that a transfer has begun by then. */
function makeTree(top: string): void {
  mkdirSync(join(top, 'm', 'sub'), { recursive: true });
  mkdirSync(join(top, 'm', 'locked'));
  for (const name of ['a', 'm/b', 'm/secret', 'm/sub/c', 'm/locked/x', 'z', 'zz'])
    writeFileSync(join(top, name), Buffer.alloc(400_000, name));
  for (const name of ['m/secret', 'm/locked', 'zz']) chmodSync(join(top, name), 0);
}

const COPIED = ['a', 'm', 'm/b', 'm/locked', 'm/sub', 'm/sub/c', 'z'];

test('what a tree of the gateway holds and nobody may read is told by name, and the rest is copied', async () => {
  mkdirSync(far('tree'));
  makeTree(far('tree'));
  const { code, stdout, stderr } = await cp(['-r', '--json', remote('tree/'), 'out']);
  expect(code).toBe(1);
  const paths = ['m/locked', 'm/secret', 'zz'].map((name) => `:${far('tree')}/${name}`);
  const told = JSON.parse(stdout.toString());
  expect(told).toMatchObject({ files: 4, directories: 4, links: 0 });
  expect(told.failed.map(({ path }: { path: string }) => path).sort()).toEqual(paths);
  for (const path of paths) expect(stderr).toContain(`exec-gateway cp: ${path}: `);
  expect(stderr.match(/\[access_denied\]/g)).toHaveLength(3);
  expect(names(here('out'))).toEqual(COPIED);
  expect(litter()).toEqual([]);
});

test('a tar without it is one for other programs too; without being asked for it fails', async () => {
  mkdirSync(far('tree'));
  makeTree(far('tree'));
  const path = encodeURIComponent(far('tree'));
  const reply = await gateway.fetch(`/fs/archive?path=${path}&skip_unreadable=true`);
  const tar = Buffer.from(await reply.arrayBuffer());
  const listed = execFileSync('tar', ['tf', '-'], { input: tar, stdio: ['pipe', 'pipe', 'ignore'] })
    .toString()
    .split('\n');
  expect(listed).toContain('m/sub/c');
  expect(listed).not.toContain('m/secret');
  const put = await gateway.fetch(`/fs/archive?path=${encodeURIComponent(far('copy'))}`, { method: 'PUT', body: tar });
  expect(await put.json()).toEqual({
    files: 4,
    directories: 3,
    links: 0,
    bytes: 1_600_000,
    unreadable: [
      { path: 'm/locked', code: 'access_denied' },
      { path: 'm/secret', code: 'access_denied' },
      { path: 'zz', code: 'access_denied' },
    ],
  });
  expect(names(far('copy'))).toEqual(COPIED);
  const plain = gateway.fetch(`/fs/archive?path=${path}`).then((whole) => whole.arrayBuffer());
  await expect(plain).rejects.toThrow();
});
