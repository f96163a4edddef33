import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bytesAt, CopyScene } from './copy-scene.js';

const scene = new CopyScene();
const { gateway, here, far, remote, cp, copies, fails, litter } = scene;

describe('what cannot be done is told in a line, with its path, its code, and what to do', () => {
  type Case = [name: string, args: () => string[], says: RegExp, env?: Record<string, string>];
  const cases: Case[] = [
    ['a source that is not there', () => [remote('none'), '.'], /^\S+ cp: :\/\S+far\/none: .*does not exist.*\[path_not_found\]/],
    ['one of this machine', () => ['none', remote('')], /cp: none: "\/.*here\/none" does not exist.*\[path_not_found\]/],
    ['a directory without -r', () => ['.', remote('x')], /cp: \.: it is a directory: give -r .*\[is_a_directory\]/],
    ['a directory of the gateway without -r', () => [remote(''), 'x'], /give -r .*\[is_a_directory\]/],
    ['no directory to put it in', () => ['f', remote('no/such/f')], /cp: :\S+\/no\/such\/f: .*\[path_not_found\] \(.*--parents/],
    ['none here', () => [remote('f'), 'no/f'], /cp: no\/f: .*\[path_not_found\]/],
    ['a slash at a file', () => ['f', remote('f/')], /\[not_a_directory\]/],
    ['a file over a directory', () => [remote('f'), 'over'], /cp: over\/f: .*\[is_a_directory\]/],
    ['a tree over a file', () => ['-r', 'over', remote('f')], /\[not_a_directory\]/],
    ['a fifo', () => ['fifo', remote('x')], /cp: fifo: .*\[not_regular_file\] \(pipe it/],
    [
      'a wrong token',
      () => ['f', remote('x')],
      /the gateway does not take this token.*EXEC_GATEWAY_TOKEN.*\[unauthorized\]/,
      { EXEC_GATEWAY_TOKEN: 'not-the-one-it-wants' },
    ],
    ['no token', () => ['f', remote('x')], /set EXEC_GATEWAY_TOKEN, or give --token-file.*\[unauthorized\]/, { EXEC_GATEWAY_TOKEN: '' }],
    [
      'no gateway',
      () => ['f', remote('x')],
      /cannot be reached.*\[upstream_unreachable\] \(is it running, and is --url/,
      { EXEC_GATEWAY_URL: 'http://127.0.0.1:9' },
    ],
    ['no socket', () => ['f', remote('x')], /ENOENT.*\[upstream_unreachable\]/, { EXEC_GATEWAY_URL: 'unix:/no/socket' }],
  ];

  test.each(cases)('%s', async (_name, args, says, env = {}) => {
    writeFileSync(far('f'), 'far');
    writeFileSync(here('f'), 'here');
    mkdirSync(here('over/f'), { recursive: true });
    execFileSync('mkfifo', [here('fifo')]);
    const told = await fails(args(), { env });
    expect(told).toMatch(says);
    expect(told.trimEnd().split('\n')).toHaveLength(1);
    expect(told).not.toContain(gateway.server.token);
    expect([bytesAt(far('f')).toString(), readdirSync(far('')), litter()]).toEqual(['far', ['f'], []]);
  });

  test.each<[string[], RegExp, Record<string, string>?]>([
    [['f'], /SRC\.\.\. DST/],
    [[], /missing required argument/],
    [['f', 'g'], /begin one with a colon/],
    [['f', '-'], /begin one with a colon/],
    [['-', '-'], /"-" goes with one path/],
    [['-', ':f', ':g'], /"-" goes with one path/],
    [[':f', ''], /A path is empty/],
    [['--json', ':f', '-'], /--json would mix/],
    [['--to-url', 'http://127.0.0.1:1', ':f', 'g'], /--to-url is for/],
    [['--to-token-file', 'x', ':f', ':g'], /--to-url/],
    [['--url', 'ftp://x', ':f', 'g'], /http:\/\/HOST:PORT/],
    [['--url', 'http://user:pass@x', ':f', 'g'], /url is not an address/],
    [['--token-file', '/no/such', ':f', 'g'], /--token-file: \/no\/such does not exist/],
    [[':f', 'g'], /no header can carry/, { EXEC_GATEWAY_TOKEN: 'ein-schlüssel' }],
    [['--recursve', ':f', 'g'], /unknown option/],
  ])('the command line %j is refused with exit code 2', async (args, says, env = {}) => {
    const { code, stdout, stderr } = await cp(args, { env });
    expect([code, stdout.toString()]).toEqual([2, '']);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/ {4}at |schlüssel/);
  });

  test('its help is for a person: on stdout, within 80 columns', async () => {
    const help = (await copies(['--help'])).toString();
    expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(help).toMatch(/^Usage: exec-gateway cp \[options\] SRC\.\.\. DST\n/);
  });
});
