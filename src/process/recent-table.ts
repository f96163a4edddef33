import { type ProcessStat, processTable } from './process-stat.js';

/** How old a look at the process table may be, in milliseconds: many who ask at once share one. */
const FRESH_MS = 50;

let table: readonly ProcessStat[] = [];
let seen_at = Number.NEGATIVE_INFINITY;

/** The process table as it is, or was at most `fresh_ms` ago (Linux; elsewhere it is empty). */
export function recentTable(fresh_ms = FRESH_MS): readonly ProcessStat[] {
  const now = performance.now();
  if (now - seen_at > fresh_ms) {
    table = processTable();
    seen_at = now;
  }
  return table;
}
