import { closeSync, constants, openSync, readSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { native } from 'node-pty';
import type { Child, ChildEvents, Launch, LaunchSpec } from './child.js';
import { launchError } from './launch-error.js';
import { withArg0 } from './pty-arg0.js';
import { PtyWriter } from './pty-writer.js';

// node-pty's own reader drops the last kilobytes of a program that exits, and its writer spins on a full terminal.
// Only its native part is used: it forks, opens the terminal, sets its size and reports the exit.

const DRAIN_BYTES = 64 * 1024;

/** Launches a program on a terminal that it controls, by node-pty, in a session of its own. */
export const launchOnPty: Launch = async (spec, events) => {
  const { fd, pid, keeper, onExit } = fork(spec);
  return ptyChild(fd, pid, keeper, onExit, events);
};

function fork(spec: LaunchSpec) {
  const { cwd, env, tty } = spec;
  const [file = '', ...args] = withArg0(spec);
  const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const { cols, rows } = tty ?? { cols: 80, rows: 24 };
  const exit: { tell?: (code: number, signal: number) => void } = {};
  try {
    const forked = native.fork(file, args, pairs, cwd, cols, rows, -1, -1, true, '', (code, signal) => exit.tell?.(code, signal));
    return { fd: forked.fd, pid: forked.pid, keeper: openKeeper(forked.pty), onExit: exit };
  } catch (error) {
    throw launchError(error, spec.path);
  }
}

/**
 * An own descriptor on the program's side of the terminal: while it is open, the end of the program is no hang-up,
 * which would cut short what is still to be read. -1 when none can be had.
 */
function openKeeper(path: string): number {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    return -1;
  }
}

function ptyChild(
  fd: number,
  pid: number,
  keeper: number,
  exit: { tell?: (code: number, signal: number) => void },
  events: ChildEvents,
): Child {
  const reader = new ReadStream(fd, { allowHalfOpen: true });
  const writer = new PtyWriter(fd);
  let open = true;
  let paused = false;
  let held = keeper;

  const drain = () => {
    for (let bytes = readNow(fd); bytes !== null; bytes = readNow(fd)) events.output('pty', bytes);
  };
  const releaseKeeper = () => {
    if (held >= 0) closeSync(held);
    held = -1;
  };
  const end = () => {
    if (!open) return;
    drain(); // a hang-up reaches the stream before the last bytes do
    open = false;
    writer.close();
    releaseKeeper();
    reader.destroy();
    events.end();
  };

  reader.on('data', (bytes: Uint8Array) => events.output('pty', bytes));
  reader.on('error', end); // EIO: nobody has the terminal open any more
  reader.on('end', end);
  exit.tell = (code, signal) => {
    if (open && !paused) drain();
    events.exit(code, signal);
    releaseKeeper();
  };

  return {
    pid,
    pause: () => {
      paused = true;
      reader.pause();
    },
    resume: () => {
      paused = false;
      reader.resume();
    },
    write: (bytes, done) => writer.write(bytes, done),
    endInput: (done) => writer.write(Uint8Array.of(4), done),
    resize: ({ cols, rows }) => {
      if (open) native.resize(fd, cols, rows);
    },
    destroy: end,
  };
}

/** What the terminal holds at this moment, or null when that is nothing or the other side is gone. */
function readNow(fd: number): Uint8Array | null {
  const bytes = Buffer.allocUnsafe(DRAIN_BYTES);
  try {
    const length = readSync(fd, bytes);
    return length > 0 ? Uint8Array.from(bytes.subarray(0, length)) : null;
  } catch {
    return null;
  }
}
