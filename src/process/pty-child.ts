import { constants, openSync } from 'node:fs';
import { native } from 'node-pty';
import type { Launch, LaunchSpec } from './child.js';
import { launchError } from './launch-error.js';
import { withArg0 } from './pty-arg0.js';
import { Terminal } from './terminal.js';

// node-pty's own reader drops the last kilobytes of a program that exits, and its writer spins on a full terminal.
// Only its native part is used: it forks, opens the terminal, sets its size and reports the exit.

/** Launches a program on a terminal that it controls, by node-pty, in a session of its own. */
export const launchOnPty: Launch = async (spec, events) => {
  let exited = (_code: number, _signal: number) => {};
  const { fd, pid, pty } = fork(spec, (code, signal) => exited(code, signal));
  const terminal = new Terminal({ pid, fd, keeper: openKeeper(pty), resize: ({ cols, rows }) => native.resize(fd, cols, rows) }, events);
  exited = (code, signal) => terminal.exited(code, signal);
  return terminal;
};

function fork(spec: LaunchSpec, on_exit: (code: number, signal: number) => void) {
  const { cwd, env, tty } = spec;
  const [file = '', ...args] = withArg0(spec);
  const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const { cols, rows } = tty ?? { cols: 80, rows: 24 };
  try {
    return native.fork(file, args, pairs, cwd, cols, rows, -1, -1, true, '', on_exit);
  } catch (error) {
    throw launchError(error, spec);
  }
}

function openKeeper(path: string): number {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    return -1;
  }
}
