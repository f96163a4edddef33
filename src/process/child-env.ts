import { type EnvPolicy, GatewayError } from '../protocol/index.js';

/** The variables of `inherit: "core"`; a name that ends in * stands for all that begin so. */
const CORE = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_*', 'TZ', 'TMPDIR'];

/** Whether a variable is one of the gateway's own settings, its token among them: those are never handed to a child. */
export const isOwnVariable = (name: string) => /^EXEC_GATEWAY_/.test(name);

export type Env = Record<string, string>;

/** Comparisons of characters that the globs of one start may take, so that they hold up nobody else. */
const MAX_GLOB_STEPS = 4_000_000;

/** Comparisons that are left. */
export interface GlobWork {
  left: number;
}

/**
 * The environment of a child: a base by policy (inherit, exclude, set, include_only), with `env` laid over it.
 * @param own the gateway's environment
 * @throws {GatewayError} `invalid_argument` for globs that take too long
 */
export function childEnv(own: NodeJS.ProcessEnv, policy: EnvPolicy = {}, env: Env = {}): Env {
  const { inherit = 'core', ignore_case = false, set = {} } = policy;
  const fold = (text: string) => (ignore_case ? text.toLowerCase() : text);
  const exclude = (policy.exclude ?? []).map(fold);
  const include_only = policy.include_only?.map(fold);
  const work = { left: MAX_GLOB_STEPS };
  const base: [string, string][] = [];
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || isOwnVariable(name) || inherit === 'none') continue;
    if (inherit === 'core' && !matches(name, CORE, work)) continue;
    if (!matches(fold(name), exclude, work)) base.push([name, value]);
  }
  base.push(...Object.entries(set));
  const kept = include_only ? base.filter(([name]) => matches(fold(name), include_only, work)) : base;
  return { ...Object.fromEntries(kept), ...env };
}

function matches(name: string, globs: readonly string[], work: GlobWork): boolean {
  return globs.some((glob) => globMatch(name, glob, work));
}

/**
 * Whether `name` matches `glob`, where * is any run and ? any one character: in name times glob comparisons at worst.
 * @throws {GatewayError} `invalid_argument` when it takes more than are left
 */
export function globMatch(name: string, glob: string, work: GlobWork): boolean {
  let at = 0;
  let star = -1;
  let retry = 0;
  let i = 0;
  while (i < name.length) {
    if (work.left-- <= 0) throw tooLong();
    if (glob[at] === '*') {
      star = at++;
      retry = i;
    } else if (at < glob.length && (glob[at] === '?' || glob[at] === name[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++retry;
    } else {
      return false;
    }
  }
  while (glob[at] === '*') at++;
  return at === glob.length;
}

function tooLong(): GatewayError {
  const detail = `env_policy takes more than ${MAX_GLOB_STEPS} comparisons of its globs with names: give fewer or shorter ones.`;
  return new GatewayError('invalid_argument', detail, { field: 'env_policy', limit: MAX_GLOB_STEPS });
}
