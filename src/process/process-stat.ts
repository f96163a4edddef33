import { readdirSync, readFileSync } from 'node:fs';

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
}

/** Null when there is none, or when it has ended and is only not reaped yet. */
export function processStat(pid: number): ProcessStat | null {
  // The program's name before these fields may hold spaces and brackets.
  const stat = readProc(pid, 'stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 20 || fields[0] === 'Z' || fields[0] === 'X') return null;
  const [group, session, foreground_group, start_ticks] = [2, 3, 5, 19].map((at) => Number(fields[at])) as [number, number, number, number];
  return { pid, group, session, foreground_group, start_ticks };
}

/** All processes that run (Linux; elsewhere none). */
export function allProcesses(): ProcessStat[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (processStat(Number(name)) ?? []) : []));
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
