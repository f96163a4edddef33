import type { StartRequest } from '../protocol/index.js';
import type { LaunchSpec } from './child.js';
import { childEnv } from './child-env.js';
import { readBytes } from './read-buffer.js';
import { resolveCommand, resolveCwd } from './resolve-command.js';
import { checkSize } from './start-check.js';

/** The type of a terminal of which none is asked for. */
export const DEFAULT_TERM = 'xterm-256color';

/** What the gateway adds to what was asked for. */
export interface LaunchBase {
  /** What children inherit from. */
  env: NodeJS.ProcessEnv;
  /** The working directory, as far as it is decided on. */
  cwd: string | undefined;
  retain_bytes: number;
}

/**
 * What is to be launched for a request: everything is resolved and checked.
 * @throws {GatewayError} what the checks say
 */
export function launchSpec(request: StartRequest, base: LaunchBase): LaunchSpec {
  const { argv, arg0, tty } = request;
  const command = argv[0] as string;
  const cwd = resolveCwd(base.cwd);
  const env = childEnv(base.env, request.env_policy, request.env);
  const size = tty ? { cols: 80, rows: 24, term: DEFAULT_TERM, ...(tty === true ? {} : tty) } : null;
  if (size?.term && request.env?.TERM === undefined && request.env_policy?.set?.TERM === undefined) env.TERM = size.term;
  checkSize(argv, env);
  return {
    command,
    path: resolveCommand(command, cwd, env.PATH),
    argv: [arg0 ?? command, ...argv.slice(1)],
    cwd,
    env,
    pipe_stdin: request.pipe_stdin === true,
    tty: size && { cols: size.cols, rows: size.rows },
    read_bytes: readBytes(request.retain_bytes ?? base.retain_bytes),
  };
}
