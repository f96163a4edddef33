import type { ProcessStat } from './process-stat.js';
import { recentTable } from './recent-table.js';

let table: readonly ProcessStat[] = [];
let groups = new Map<number, Set<number>>();

/**
 * The process groups of a session (Linux; elsewhere none are found): a shell with job control puts each job of its terminal
 * in a group of its own.
 */
export function sessionGroups(session: number): ReadonlySet<number> {
  const recent = recentTable();
  if (table !== recent) {
    table = recent;
    groups = bySession(recent);
  }
  return groups.get(session) ?? new Set();
}

function bySession(processes: readonly ProcessStat[]): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  for (const { group, session, ended } of processes) {
    if (!ended) found.set(session, (found.get(session) ?? new Set()).add(group));
  }
  return found;
}
