import { allProcesses } from './process-stat.js';

/** How old a look at the process table may be, in milliseconds: many terminals that end together share one. */
const FRESH_MS = 50;

let table = new Map<number, Set<number>>();
let seen_at = Number.NEGATIVE_INFINITY;

/**
 * The process groups of a session (Linux; elsewhere none are found): a shell with job control puts each job of its terminal
 * in a group of its own.
 */
export function sessionGroups(session: number): ReadonlySet<number> {
  const now = performance.now();
  if (now - seen_at > FRESH_MS) {
    table = readTable();
    seen_at = now;
  }
  return table.get(session) ?? new Set();
}

/** Groups by session. */
function readTable(): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  for (const { group, session } of allProcesses()) {
    const groups = found.get(session) ?? new Set();
    found.set(session, groups.add(group));
  }
  return found;
}
