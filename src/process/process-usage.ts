import { readFileSync } from 'node:fs';
import type { ProcessInfo, ProcessUsage } from '../protocol/process.js';
import { processTable } from './process-stat.js';

/** A tick of the times in /proc, in milliseconds: 100 of them are a second wherever Node runs. */
const TICK_MS = 10;

/** Processes with what they use, all from one look at the process table. Null where it is not known: of what does not run, and outside of Linux. */
export async function withUsage(processes: ProcessInfo[]): Promise<ProcessInfo[]> {
  const leaders = new Set(processes.flatMap((process) => leaderOf(process) ?? []));
  const known = leaders.size > 0 ? await usagesOf(leaders) : null;
  return processes.map((process) => ({ ...process, usage: known?.get(leaderOf(process) ?? 0) ?? null }));
}

const leaderOf = ({ state, pid }: ProcessInfo) => (state === 'running' ? pid : null);

/** What the session of each leader uses. One who was not reaped yet still counts: its time goes over to its parent with that. */
async function usagesOf(leaders: ReadonlySet<number>): Promise<Map<number, ProcessUsage>> {
  const table = await processTable();
  const found = new Map<number, ProcessUsage>();
  for (const { pid } of table) if (leaders.has(pid)) found.set(pid, { cpu_ms: 0, rss_bytes: 0 });
  for (const { session, group, cpu_ticks, rss_pages } of table) {
    const usage = found.get(session) ?? found.get(group);
    if (usage === undefined) continue;
    usage.cpu_ms += cpu_ticks * TICK_MS;
    usage.rss_bytes += rss_pages * pageBytes();
  }
  return found;
}

let page_bytes = 0;

function pageBytes(): number {
  page_bytes ||= readPageBytes() ?? 4096;
  return page_bytes;
}

/** AT_PAGESZ of what the kernel told this program at its start (getauxval(3)), in pairs of words of 8 bytes; machines with other words have pages of 4 KiB. */
function readPageBytes(): number | null {
  try {
    const words = new BigUint64Array(new Uint8Array(readFileSync('/proc/self/auxv')).buffer);
    for (let at = 0; at + 1 < words.length; at += 2) if (words[at] === 6n) return Number(words[at + 1]);
  } catch {
    // not ours to see
  }
  return null;
}
