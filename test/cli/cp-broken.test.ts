import { randomBytes } from 'node:crypto';
import { mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { Uplink } from '../support/uplink.js';
import { bytesAt, CopyScene } from './copy-scene.js';
import { MAIN } from './spawn-cli.js';

const MIB = 1024 * 1024;
const scene = new CopyScene({ flags: ['--allow-host', '127.0.0.1'] });
const { gateway, here, far, remote, environment, start, copies, fails, litter } = scene;

describe('a line that breaks', () => {
  test('begins no large file anew', async () => {
    const content = randomBytes(40 * MIB);
    writeFileSync(here('large'), content);
    // Nothing is kept in the way: each of the first connections carries 7 MiB, calls and parts together.
    await using line = await Uplink.open(gateway.server.url, (count) => (count < 4 ? 7 * MIB : null));
    await copies(['large', remote('large')], { env: { EXEC_GATEWAY_URL: line.url } });
    expect(line.cuts).toBeGreaterThan(2);
    expect([bytesAt(far('large')).equals(content), litter()]).toEqual([true, []]);
  });

  test('leaves nothing of what cannot be sent again', async () => {
    writeFileSync(far('f'), 'old');
    await using line = await Uplink.open(gateway.server.url, () => MIB);
    const env = { EXEC_GATEWAY_URL: line.url };
    expect(await fails(['-', remote('f')], { env, input: randomBytes(8 * MIB) })).toMatch(/cp: :\S+\/f: .*\[upstream_unreachable\]/);
    await until('it is taken away', () => litter().length === 0);
    expect([bytesAt(far('f')).toString(), line.cuts]).toEqual(['old', 1]);
  });
});

describe('Ctrl-C', () => {
  const sparse = (path: string) => {
    writeFileSync(path, '');
    truncateSync(path, 2048 * MIB);
  };

  test.each<[string, () => string[], 'SIGINT' | 'SIGTERM']>([
    ['a file that goes up in parts', () => ['big', remote('cut')], 'SIGINT'],
    ['one that comes down', () => [remote('big'), 'cut'], 'SIGINT'],
    ['standard input', () => ['-', remote('cut')], 'SIGINT'],
    ['a tree that goes up', () => ['-r', 'tree', remote('cut')], 'SIGTERM'],
    ['a tree that comes down', () => ['-r', remote('tree'), 'cut'], 'SIGINT'],
  ])('ends %s, and leaves no file that is not whole', async (_name, args, signal) => {
    for (const side of [here, far]) {
      sparse(side('big'));
      mkdirSync(side('tree'));
      sparse(side('tree/big'));
    }
    const { child, ended } = start(args(), { input: null });
    child.stdin?.write(randomBytes(MIB));
    await until('it is under way', () => litter().length > 0);
    child.kill(signal);
    expect(await ended).toEqual({ code: null, signal, stdout: Buffer.alloc(0), stderr: '' });
    await until('it is taken away', () => litter().length === 0);
    const whole = ['cut', 'cut/big']
      .flatMap((name) => [here(name), far(name)])
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
    expect(whole).toEqual([]);
  });
});

test('on a terminal it shows how far it is, and a line at the end', async () => {
  writeFileSync(here('f'), '');
  truncateSync(here('f'), 300 * MIB);
  const argv = [process.execPath, MAIN, 'cp', here('f'), remote('f')];
  const tty = { cols: 60, rows: 24 };
  const reply = await gateway.send('POST', '/run', { argv, tty, env: environment(), wait_ms: 60_000, max_bytes: MIB });
  const { exit_code, stdout } = (await reply.json()) as { exit_code: number; stdout: string };
  const lines = stdout.split(/[\r\n]+/).map((line) => line.replaceAll('\x1b[K', ''));
  expect([exit_code, lines.at(-2)]).toEqual([0, expect.stringMatching(/^1 file, 300\.0 MiB in \d+\.\d s \(\d+\.\d MiB\/s\)$/)]);
  const progress = lines.filter((line) => /\/f {2}\d+% {2}[\d.]+ (MiB|B) {2}[\d.]+ \S+\/s/.test(line));
  expect(progress.length).toBeGreaterThan(0);
  for (const line of progress) expect(line.length).toBeLessThan(60);
});
