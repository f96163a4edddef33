import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Launch, LaunchSpec } from './child.js';
import { launchError } from './launch-error.js';
import { pipes } from './pipes.js';
import { checkInterpreter, resolveCommand } from './resolve-command.js';
import { signalNumber } from './signals.js';

/** Launches a program on pipes, by child_process, in a session and process group of its own. */
export const launchOnPipes: Launch = async (spec, events) => {
  const child = spawnChild(spec);
  if (child.pid === undefined) {
    const [error] = await once(child, 'error').catch((e: unknown) => [e]);
    throw refusal(error, spec);
  }
  child.on('error', () => {}); // later ones concern kill(), which is not used
  child.once('exit', (code, signal) => events.exit(code ?? 0, signal ? signalNumber(signal) : 0));
  const { stdin, stdout, stderr } = child as { stdin: ChildProcess['stdin']; stdout: Readable; stderr: Readable };
  return pipes(child.pid, { stdin, stdout, stderr }, events);
};

function spawnChild(spec: LaunchSpec): ChildProcess {
  const { path, argv, cwd, env, pipe_stdin } = spec;
  try {
    return spawn(path, argv.slice(1), {
      argv0: argv[0] as string,
      cwd,
      env,
      detached: true,
      stdio: [pipe_stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    throw launchError(error, spec);
  }
}

/** child_process does not tell a directory that has just gone from a missing program: with the program still there it is the directory. */
function refusal(error: NodeJS.ErrnoException, spec: LaunchSpec): Error {
  if (!['ENOENT', 'ENOTDIR', 'EACCES'].includes(error.code ?? '')) return launchError(error, spec);
  try {
    resolveCommand(spec.path, spec.cwd, undefined);
    checkInterpreter(spec.path, spec.cwd);
  } catch (missing) {
    return missing as Error;
  }
  return launchError(Object.assign(error, { stage: 'cwd' }), spec);
}
