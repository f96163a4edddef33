import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Child, Launch, LaunchSpec } from './child.js';
import { launchError } from './launch-error.js';
import { signalNumber } from './signals.js';

/** Launches a program on pipes, by child_process, in a session and process group of its own. */
export const launchOnPipes: Launch = async (spec, events) => {
  const child = spawnChild(spec);
  if (child.pid === undefined) {
    const [error] = await once(child, 'error').catch((e: unknown) => [e]);
    throw launchError(error, spec.path);
  }
  child.on('error', () => {}); // later ones concern kill(), which is not used
  const outputs = [child.stdout, child.stderr] as [Readable, Readable];
  let open = outputs.length;
  const streams = ['stdout', 'stderr'] as const;
  outputs.forEach((output, i) => {
    output.on('data', (bytes: Uint8Array) => events.output(streams[i] as 'stdout' | 'stderr', bytes));
    output.on('error', () => output.destroy());
    output.once('close', () => {
      if (--open === 0) events.end();
    });
  });
  child.once('exit', (code, signal) => events.exit(code ?? 0, signal ? signalNumber(signal) : 0));
  return pipeChild(child, child.pid, outputs);
};

function spawnChild({ path, argv, cwd, env, pipe_stdin }: LaunchSpec): ChildProcess {
  try {
    return spawn(path, argv.slice(1), {
      argv0: argv[0] as string,
      cwd,
      env,
      detached: true,
      stdio: [pipe_stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    throw launchError(error, path);
  }
}

function pipeChild(child: ChildProcess, pid: number, outputs: [Readable, Readable]): Child {
  const { stdin } = child;
  stdin?.on('error', () => stdin.destroy()); // EPIPE: the program closed its side
  return {
    pid,
    pause: () => outputs.forEach((output) => void output.pause()),
    resume: () => outputs.forEach((output) => void output.resume()),
    write(bytes, done) {
      if (stdin?.writable) stdin.write(bytes, (error) => done(error ?? null));
      else done(new Error('stdin is closed'));
    },
    endInput(done) {
      if (stdin?.writable) stdin.end((error?: Error | null) => done(error ?? null));
      else done(null);
    },
    resize() {},
    destroy() {
      stdin?.destroy();
      for (const output of outputs) output.destroy();
    },
  };
}
