import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDataDirectory } from '../../src/process/transcript/data-directory.js';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'data-directory-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

test('one that is new, or was left before its form was written, is made ready', () => {
  const path = join(dir, 'a', 'b');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(join(path, 'format.new'), ''); // the power was cut
  for (const _ of ['first', 'again']) openDataDirectory(path);
  expect(readFileSync(join(path, 'format'), 'utf8')).toBe('1\n');
  expect(readdirSync(path).sort()).toEqual(['format', 'transcripts']);
});

test.each([
  ['newer', '2\n', 'was written by a newer exec-gateway: its format is "2", this version knows 1'],
  ['older', '0\n', 'is not one of exec-gateway: its format is "0"'],
  ['empty', '', 'is not one of exec-gateway: its format is ""'],
])('one of another form is refused and left as it is: %s', (name, format, says) => {
  const path = join(dir, name);
  mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(path, 'format'), format);
  const before = statSync(join(path, 'format'));
  expect(() => openDataDirectory(path)).toThrow(says);
  expect(readdirSync(path)).toEqual(['format']);
  expect(statSync(join(path, 'format')).mtimeMs).toBe(before.mtimeMs);
});

test('one that nobody can write to is refused in a line that says so', () => {
  const path = join(dir, 'read-only');
  mkdirSync(path, { mode: 0o700 });
  const serve = [process.execPath, PROGRAM, 'serve', '--listen', '127.0.0.1:0', '--data-dir', path];
  const { status, stderr } = spawnSync('bwrap', ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...serve], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(
    /^exec-gateway serve: --data-dir: The data directory ".*read-only" cannot be used: EROFS: read-only file system.*$/m,
  );
  expect([status, readdirSync(path)]).toEqual([2, []]);
});
