import type { EnvPolicy } from '../protocol/index.js';

/** The variables of `inherit: "core"`; a name that ends in * stands for all that begin so. */
const CORE = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_*', 'TZ', 'TMPDIR'];

/** The gateway's own settings, its token among them: never handed to a child. */
const OWN = /^EXEC_GATEWAY_/;

export type Env = Record<string, string>;

/**
 * The environment of a child: a base by policy (inherit, exclude, set, include_only), with `env` laid over it.
 * @param own the gateway's environment
 */
export function childEnv(own: NodeJS.ProcessEnv, policy: EnvPolicy = {}, env: Env = {}): Env {
  const { inherit = 'core', exclude = [], set = {}, include_only } = policy;
  const base: [string, string][] = [];
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || OWN.test(name) || inherit === 'none') continue;
    if (inherit === 'core' && !matches(name, CORE)) continue;
    if (!matches(name, exclude)) base.push([name, value]);
  }
  base.push(...Object.entries(set));
  const kept = include_only ? base.filter(([name]) => matches(name, include_only)) : base;
  return { ...Object.fromEntries(kept), ...env };
}

function matches(name: string, globs: readonly string[]): boolean {
  return globs.some((glob) => globMatch(name, glob));
}

/** Whether `name` matches `glob`, where * is any run and ? any one character. Linear but for the number of stars. */
export function globMatch(name: string, glob: string): boolean {
  let at = 0;
  let star = -1;
  let retry = 0;
  let i = 0;
  while (i < name.length) {
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
