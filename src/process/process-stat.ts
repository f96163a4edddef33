import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** What /proc/PID/stat says of a process (proc(5)). */
export interface ProcessStat {
  pid: number;
  /** Number of its process group. */
  group: number;
  /** Number of its session. */
  session: number;
  /** The group in the foreground of its terminal; -1 without one. */
  foreground_group: number;
  /** When it was started, in ticks since the system was: with the pid it names a process for good. */
  start_ticks: number;
  /** Whether it has ended and is only not reaped yet. */
  ended: boolean;
  /** Processor time of it, and of its children that have ended and were waited for, in ticks. */
  cpu_ticks: number;
  /** Memory it has in use, in pages. */
  rss_pages: number;
}

/** Processes that are looked at in one turn: it takes some milliseconds. */
const READ_AT_ONCE = 100;

/** Null when there is none, or when it has ended and is only not reaped yet. */
export function processStat(pid: number): ProcessStat | null {
  const stat = readStat(pid);
  return stat?.ended ? null : stat;
}

function readStat(pid: number): ProcessStat | null {
  // The program's name before these fields may hold spaces and brackets.
  const stat = readProc(pid, 'stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 22) return null;
  const field = (at: number) => Number(fields[at]);
  return {
    pid,
    group: field(2),
    session: field(3),
    foreground_group: field(5),
    start_ticks: field(19),
    ended: fields[0] === 'Z' || fields[0] === 'X',
    cpu_ticks: field(11) + field(12) + field(13) + field(14),
    rss_pages: field(21),
  };
}

/** All processes that run (Linux; elsewhere none). */
export function allProcesses(): ProcessStat[] {
  return pids().flatMap((pid) => processStat(pid) ?? []);
}

/** All processes, also those that have ended and are only not reaped yet (Linux; elsewhere none). Others have their turn meanwhile. */
export async function processTable(): Promise<ProcessStat[]> {
  const table: ProcessStat[] = [];
  for (const [at, pid] of pids().entries()) {
    if (at % READ_AT_ONCE === READ_AT_ONCE - 1) await setImmediate();
    const stat = readStat(pid);
    if (stat !== null) table.push(stat);
  }
  return table;
}

function pids(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
  } catch {
    return [];
  }
}

/** The variables that a process was started with, as `NAME=value`; none where they are not ours to see. */
export function environmentOf(pid: number): string[] {
  return readProc(pid, 'environ').split('\0');
}

/** Names this run of the system: the numbers of its processes mean nothing in another. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return '';
  }
}

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return ''; // it has ended
  }
}
