import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveCommand, resolveCwd } from '../../src/process/resolve-command.js';
import { codeOfThrown } from './thrown.js';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'resolve-'));
  for (const name of ['one', 'two', 'data', 'one/both', 'sub']) mkdirSync(join(dir, name), { recursive: true });
  const script = (name: string, mode = 0o755) => {
    writeFileSync(join(dir, name), `#!/bin/sh\necho ${name}\n`);
    chmodSync(join(dir, name), mode);
  };
  for (const name of ['here', 'one/tool', 'two/tool', 'two/both', 'sub/inner']) script(name);
  script('one/plain', 0o644);
  script('two/plain');
  script('data/only-plain', 0o644);
  symlinkSync(join(dir, 'two/tool'), join(dir, 'one/link'));
  symlinkSync('dangling', join(dir, 'one/dangling'));
  symlinkSync('loop', join(dir, 'one/loop'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** What the system itself runs, which tells its name; or its refusal. */
function systemRuns(command: string, search_path: string | undefined): string {
  const env: NodeJS.ProcessEnv = search_path === undefined ? {} : { PATH: search_path };
  const { stdout, error } = spawnSync(command, [], { cwd: dir, env, encoding: 'utf8' });
  if (!error) return join(dir, stdout.trim());
  return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'permission_denied' : 'command_not_found';
}

describe('the program is the one that the system would run', () => {
  test.each([
    ['here', 'one:two', 'command_not_found'],
    ['./here', 'one:two', 'here'],
    ['sub/inner', '', 'sub/inner'],
    ['tool', 'one:two', 'one/tool'],
    ['tool', 'two:one', 'two/tool'],
    ['tool', 'missing:data:two', 'two/tool'],
    ['here', ':one', 'here'],
    ['here', 'one:', 'here'],
    ['here', '.', 'here'],
    ['plain', 'one:two', 'two/plain'],
    ['only-plain', 'one:data', 'permission_denied'],
    ['./data/only-plain', 'one', 'permission_denied'],
    ['both', 'one:two', 'two/both'],
    ['./one', 'one', 'permission_denied'],
    ['dangling', 'one', 'command_not_found'],
    ['./here/x', 'one', 'command_not_found'],
    ['no-such', 'one:two', 'command_not_found'],
  ])('%s in PATH %j is %s', (command, search_path, expected) => {
    const absolute = search_path
      .split(':')
      .map((entry) => (entry === '' || entry === '.' ? entry : join(dir, entry)))
      .join(':');
    const found = codeOfThrown(() => resolveCommand(command, dir, absolute));
    const wanted = /^[a-z_]+$/.test(expected) && expected.includes('_') ? expected : join(dir, expected);
    expect(found).toBe(wanted);
    expect(systemRuns(command, absolute)).toBe(wanted);
  });

  test('links are followed to what runs, under the name that was found', () => {
    expect(resolveCommand('link', dir, join(dir, 'one'))).toBe(join(dir, 'one/link'));
    expect(codeOfThrown(() => resolveCommand('loop', dir, join(dir, 'one')))).toBe('command_not_found');
  });

  test('without PATH the usual places are searched', () => {
    expect(resolveCommand('sh', dir, undefined)).toMatch(/^\/(usr\/)?bin\/sh$/);
  });
});

describe('the working directory', () => {
  test.each([
    ['missing', 'cwd_not_found'],
    ['here', 'cwd_not_a_directory'],
    ['here/below', 'cwd_not_a_directory'],
    ['one/loop', 'cwd_not_found'],
    ['x'.repeat(300), 'cwd_not_found'],
  ])('%s is refused as %s, naming cwd', (name, code) => {
    expect(() => resolveCwd(join(dir, name))).toThrow(expect.objectContaining({ code, fields: { field: 'cwd' } }));
  });

  test('is absolute, and by default our own', () => {
    expect(resolveCwd(join(dir, 'one', '..', 'two'))).toBe(join(dir, 'two'));
    expect(resolveCwd(undefined)).toBe(process.cwd());
  });
});
