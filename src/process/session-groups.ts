import { readdirSync, readFileSync } from 'node:fs';

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

/** Groups by session, from /proc/PID/stat (proc(5): pgrp is field 5, session field 6). */
function readTable(): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  for (const name of entries()) {
    const stat = /^\d+$/.test(name) ? read(`/proc/${name}/stat`) : '';
    const [state, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (!session || state === 'Z') continue;
    const groups = found.get(Number(session)) ?? new Set();
    found.set(Number(session), groups.add(Number(group)));
  }
  return found;
}

function entries(): string[] {
  try {
    return readdirSync('/proc');
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // it has ended
  }
}
