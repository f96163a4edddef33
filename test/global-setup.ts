import { execFileSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

import { makeScratch } from './support/scratch.js';

/** Where `python3` is a shim that looks for its version at each start, as pyenv's, it takes a second: the tests call what it leads to. */
export function setup(): () => void {
  const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  process.env.PATH = `${dirname(python)}${delimiter}${process.env.PATH}`;
  return makeScratch();
}
