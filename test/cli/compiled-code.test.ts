import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ENGINE_FLAGS } from '../../src/cli/engine.js';
import { OWN_PROGRAM } from '../../src/process/own-program.js';

const DIR = dirname(OWN_PROGRAM);
const compiled = readdirSync(DIR).filter((name) => name.endsWith('.compiled'));

/** Whether an engine with the flags of the program takes what is beside a file. */
const TAKES = `
  for (const flag of ${JSON.stringify(ENGINE_FLAGS)}) require('node:v8').setFlagsFromString(flag);
  const fs = require('node:fs');
  const [filename, before, after] = process.argv.slice(1);
  const cachedData = fs.readFileSync(filename + '.compiled');
  process.stdout.write(String(!new (require('node:vm').Script)(before + fs.readFileSync(filename) + after, { filename, cachedData }).cachedDataRejected));
`;

test('what was compiled at the build is taken', () => {
  expect(compiled.length).toBeGreaterThan(10);
  for (const name of compiled) {
    const file = join(DIR, name.replace('.compiled', ''));
    const around = ['(function (exports, require, module, __filename, __dirname) { ', '\n})'];
    expect(execFileSync(process.execPath, ['-e', TAKES, file, ...around], { encoding: 'utf8' }), name).toBe('true');
  }
});

test.each<[string, (file: string) => void]>([
  ['is missing', (file) => rmSync(file)],
  ['is empty', (file) => writeFileSync(file, '')],
  ['is something else', (file) => writeFileSync(file, readFileSync(OWN_PROGRAM))],
  ['is cut off', (file) => writeFileSync(file, readFileSync(file).subarray(0, -100))],
])('where it %s the program runs all the same', (_what, spoil) => {
  const dir = mkdtempSync(join(tmpdir(), 'compiled-'));
  try {
    cpSync(DIR, join(dir, 'dist/cli'), { recursive: true });
    for (const name of ['package.json', 'node_modules']) symlinkSync(join(DIR, '../..', name), join(dir, name));
    for (const name of compiled) spoil(join(dir, 'dist/cli', name));
    const version = execFileSync(process.execPath, [join(dir, 'dist/cli/main.cjs'), '--version'], { encoding: 'utf8' });
    expect(version).toMatch(/^\d+\.\d+\.\d+\n$/);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
