import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RssWatch } from '../load/rss-watch.js';
import { rssBytes } from '../support/proc.js';
import { useGateway } from '../wire/use-gateway.js';
import { spawnCli } from './spawn-cli.js';

const MIB = 1024 * 1024;
const SIZE = 400 * MIB;

/** The program by itself takes 60 MiB, and what is on its way some tens more: less than the file in any case. */
const MEMORY = 220 * MIB;

const gateway = useGateway();
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cp-memory-'));
  for (const name of ['f', 't/f']) {
    mkdirSync(join(dir, 't'), { recursive: true });
    writeFileSync(join(dir, name), '');
    truncateSync(join(dir, name), SIZE);
  }
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.each<[string, string[], string]>([
  ['up', ['f', ':DIR/to'], 'to'],
  ['down', [':DIR/f', 'to'], 'to'],
  ['in from stdin', ['-', ':DIR/to'], 'to'],
  ['out to stdout', [':DIR/f', '-'], 'out'],
  ['up in a tree', ['-r', 't', ':DIR/to'], 'to/f'],
  ['down in a tree', ['-r', ':DIR/t', 'to'], 'to/f'],
])('400 MiB go %s with flat memory, here and at the gateway', { timeout: 120_000 }, async (_name, args, result) => {
  const env = { EXEC_GATEWAY_URL: gateway.server.url, EXEC_GATEWAY_TOKEN: gateway.server.token as string };
  const there = new RssWatch(gateway.server.pid);
  const { child, ended } = spawnCli(['cp', ...args.map((arg) => arg.replace('DIR', dir))], { env, cwd: dir, input: null });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, rssBytes(child.pid as number) || 0); // gone, it has none
  }, 20);
  child.stdout?.removeAllListeners('data');
  child.stdout?.pipe(createWriteStream(join(dir, 'out')));
  if (child.stdin) createReadStream(join(dir, 'f')).pipe(child.stdin);
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
  expect(statSync(join(dir, result)).size).toBe(SIZE);
  clearInterval(watch);
  expect(peak).toBeGreaterThan(30 * MIB);
  expect(peak).toBeLessThan(MEMORY);
  expect(there.stop()).toBeLessThan(100 * MIB);
});
