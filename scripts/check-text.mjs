// No file holds the address of a package registry or a path of the machine it was written on.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';

const run = (command, ...args) => execFileSync(command, args, { encoding: 'utf8' }).trim();
const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** A directory at the start of a word, so that `/srv/` does not match `https://host/srv/`. */
const pathStart = (directory) => new RegExp(`(?<![\\w./:-])${literally(directory)}(?=/|$)`, 'm');

const root = run('git', 'rev-parse', '--show-toplevel');
const shared = ['/', '/tmp', '/home', '/var', '/srv', '/opt', '/usr/src'];
const machine = [root, dirname(root), homedir()].filter((directory) => !shared.includes(directory));
const registry = new URL(run('npm', 'config', 'get', 'registry')).host;

const RULES = [
  ['a registry host', new RegExp(`\\bregistry\\.[a-z0-9-]+\\.(org|com|io|net)\\b|${literally(registry)}`)],
  ['a home directory', /(?<![\w./:-])\/(root|home\/[\w.-]+|Users\/[\w.-]+)(?=\/|$)/m],
  ...machine.map((directory) => ['a path of this machine', pathStart(directory)]),
];
const LOCK_RULE = ['a download address', /"resolved":/];

const files = run('git', 'ls-files', '--cached', '--others', '--exclude-standard').split('\n');
let found = 0;
for (const file of new Set(files)) {
  const lines = readText(file).split('\n');
  const rules = file === 'package-lock.json' ? [...RULES, LOCK_RULE] : RULES;
  for (const [what, pattern] of rules) {
    const at = lines.findIndex((line) => pattern.test(line));
    if (at === -1) continue;
    found++;
    console.error(`${file}:${at + 1}: ${what}: ${lines[at].trim().slice(0, 120)}`);
  }
}
console.log(found === 0 ? `No address or path of a machine in ${files.length} files.` : `${found} found.`);
process.exitCode = found === 0 ? 0 : 1;

/** A file that git lists may be deleted in the working tree. */
function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}
