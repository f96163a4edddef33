import { Socket } from 'node:net';
import type { Stream } from '../protocol/index.js';
import type { Child, ChildEvents, Launch, LaunchSpec } from './child.js';
import { launchError } from './launch-error.js';
import { type Native, native, type Started } from './native.js';
import { pipes } from './pipes.js';
import { readWith } from './read-buffer.js';
import { Terminal } from './terminal.js';

const STDIN_CLOSED = 0;
const STDIN_PIPED = 1;
const TERMINAL = 2;

/**
 * The launcher of native/launch.c, or null where it cannot be used. It starts programs by vfork on threads of its own, at a
 * cost that does not grow with the gateway's memory and holds up nobody else, on real pipes, and leaks no descriptor.
 */
export const nativeLaunch: Launch | null = native && ((spec, events) => launch(native as Native, spec, events));

async function launch(native: Native, spec: LaunchSpec, events: ChildEvents): Promise<Child> {
  const { path, argv, cwd, tty, pipe_stdin } = spec;
  const env = Object.entries(spec.env).map(([name, value]) => `${name}=${value}`);
  const mode = tty ? TERMINAL : pipe_stdin ? STDIN_PIPED : STDIN_CLOSED;
  let exited = events.exit;
  const size = [tty?.cols ?? 0, tty?.rows ?? 0] as const;
  const [pid, first, second, third] = await new Promise<Started>((resolve, reject) => {
    const told = (error: Error | undefined, started: Started) => (error ? reject(error) : resolve(started));
    native.launch(path, argv, env, cwd, mode, ...size, told, (code, signal) => exited(code, signal));
  }).catch((error) => {
    throw launchError(error, spec);
  });
  if (!tty) {
    const stdin = first < 0 ? null : new Socket({ fd: first, readable: false, writable: true });
    const output = (fd: number, stream: Stream) =>
      new Socket({ fd, readable: true, writable: false, ...readWith(spec.read_bytes, (bytes) => events.output(stream, bytes)) });
    return pipes(pid, { stdin, stdout: output(second, 'stdout'), stderr: output(third, 'stderr') }, events);
  }
  const terminal = new Terminal({ pid, fd: first, keeper: second, resize: ({ cols, rows }) => native.resize(first, cols, rows) }, events);
  exited = (code, signal) => terminal.exited(code, signal);
  return terminal;
}
