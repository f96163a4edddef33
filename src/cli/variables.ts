import { cpCommand } from './cp-options.js';
import { attachCommand } from './process-options.js';
import { runCommand } from './run-options.js';
import { serveCommand } from './serve-options.js';
import { SettingError } from './token.js';

/** Variables that belong to no flag: the token, and the choice of a launcher. */
const OTHERS = ['EXEC_GATEWAY_TOKEN', 'EXEC_GATEWAY_LAUNCHER'];

/** What Kubernetes and Docker add by themselves for a service of this name, or of one that begins with it. */
const OF_SERVICES = /^EXEC_GATEWAY_(\w+_)?(SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/**
 * Refuses variables that look like settings and are none: one that is spelled wrongly would leave its setting at the default.
 * @throws {SettingError} with the nearest names
 */
export function refuseUnknownVariables(env: NodeJS.ProcessEnv): void {
  const known = [
    ...OTHERS,
    ...[serveCommand(), runCommand(), attachCommand(), cpCommand()].flatMap(({ options }) => options.flatMap(({ envVar }) => envVar ?? [])),
  ];
  const unknown = Object.keys(env).find((name) => name.startsWith('EXEC_GATEWAY_') && !known.includes(name) && !OF_SERVICES.test(name));
  if (unknown === undefined) return;
  const distances = known.map((name) => distance(name, unknown));
  const least = Math.min(...distances);
  const nearest = known.filter((_name, at) => distances[at] === least).slice(0, 3);
  throw new SettingError(`${unknown} is no setting of this gateway; the nearest is ${nearest.join(' or ')} (serve --help has all).`);
}

/** Characters to insert, remove or replace to make one text of the other (Levenshtein). */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    above = row;
  }
  return above[b.length] as number;
}
