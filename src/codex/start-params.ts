import type { EnvPolicy, FilePath, StartRequest } from '../protocol/index.js';
import type { SandboxPolicy } from '../protocol/sandbox.js';
import type { Params } from './params.js';
import { invalidParams } from './rpc-error.js';
import { refuseNetworkPolicy, sandboxPolicy } from './sandbox.js';

/** Output held for a client that comes back, in bytes: 1 MiB, and one chunk more, so that it is never less. */
const RETAIN_BYTES = 1024 * 1024 + 64 * 1024;

/** Names of the variables that are secrets as a rule, in any case. */
const SECRETS = ['*KEY*', '*SECRET*', '*TOKEN*'];

/** A start as the client asks for it: its key, and all but the id of the request to the core. */
export interface StartParams {
  processId: string;
  request: Omit<StartRequest, 'process_id' | 'labels'>;
  /** What the sandbox allows, or null for none; to be called when it is known that the client may start something. */
  confinement(): SandboxPolicy | null;
}

/** Reads the params of `process/start`. */
export function startParams(params: Params): StartParams {
  const processId = params.text('processId');
  const argv = params.texts('argv');
  const cwd = nativeText(params.path('cwd'), params.text('cwd'));
  const env = params.variables('env');
  const tty = params.flag('tty');
  const policy = params.optionalParams('envPolicy');
  const arg0 = params.optionalText('arg0');
  const request = {
    argv,
    cwd,
    env,
    env_policy: policy ? envPolicy(policy) : { inherit: 'none' as const },
    ...(arg0 === undefined ? {} : { arg0 }),
    // The variables are those that were asked for: no TERM is added.
    ...(tty ? { tty: { term: null } } : {}),
    pipe_stdin: params.optionalFlag('pipeStdin', false),
    retain_bytes: RETAIN_BYTES,
  };
  if (argv.length === 0) throw invalidParams('argv must not be empty');
  const confinement = () => {
    refuseNetworkPolicy(params);
    return sandboxPolicy(params);
  };
  params.optionalParams('sandbox')?.params('permissions');
  return { processId, request, confinement };
}

function envPolicy(policy: Params): EnvPolicy {
  const include_only = policy.texts('includeOnly');
  const secrets = policy.flag('ignoreDefaultExcludes') ? [] : SECRETS;
  return {
    inherit: policy.word('inherit', ['all', 'core', 'none']),
    ignore_case: true,
    exclude: [...secrets, ...policy.texts('exclude')],
    set: policy.variables('set'),
    ...(include_only.length > 0 ? { include_only } : {}),
  };
}

function nativeText({ path }: FilePath, uri: string): string {
  if (path !== undefined) return path;
  throw invalidParams(`'${uri}' is no working directory here: its name is not UTF-8`);
}
