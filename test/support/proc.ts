import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';

const POLL_MS = 20;

const BUFFER = Buffer.alloc(64 * 1024);

/** Waits until `ready` says so, for what no call of the product can tell: the state of /proc, or of a file. It is asked every `poll_ms`. */
export async function until(what: string, ready: () => boolean | Promise<boolean>, within_ms = 10_000, poll_ms = POLL_MS): Promise<void> {
  const deadline = performance.now() + within_ms;
  while (!(await ready())) {
    if (performance.now() > deadline) throw new Error(`Not within ${within_ms} ms: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, poll_ms));
  }
}

/** Resident memory of a process, in bytes. */
export function rssBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1]) * 1024;
}

/** Processor time that a process has used, in milliseconds (proc(5): utime and stime, in ticks of 10 ms). */
export function cpuMs(pid: number): number {
  const [utime, stime] = stat(pid).slice(11, 13);
  return (Number(utime) + Number(stime)) * 10;
}

/** Whether a process runs; one that has ended and is not reaped yet does not. */
export function isRunning(pid: number): boolean {
  const [state] = stat(pid);
  return state !== undefined && state !== '' && state !== 'Z' && state !== 'X';
}

/** Running processes of a session, which the pid of its leader names. */
export function sessionMembers(session: number | null): number[] {
  return pids().filter((pid) => Number(stat(pid)[3]) === session && isRunning(pid));
}

/** Running processes whose environment at their start held this `NAME=value`, or that belong to one of these sessions. */
export function markedProcesses(mark: string, sessions: ReadonlySet<number> = new Set()): number[] {
  const marked = (pid: number) => `\0${read(`/proc/${pid}/environ`)}`.includes(`\0${mark}\0`);
  return pids().filter((pid) => (sessions.has(Number(stat(pid)[3])) || marked(pid)) && isRunning(pid));
}

/** The words a process was started with, for messages. */
export const commandLine = (pid: number) => `${pid}: ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`;

/** What a process has open towards its children: pipes, terminals and sockets, but not the network's. */
export function descriptors(pid: number): string[] {
  const open = entries(`/proc/${pid}/fd`).map((fd) => link(`/proc/${pid}/fd/${fd}`));
  const local = unixSockets(pid);
  return open.filter((target) => /^pipe:|^\/dev\/(ptmx|pts\/)/.test(target) || local.has(target));
}

/** Told from the network's by their own table: that of TCP holds thousands of connections that have ended. */
function unixSockets(pid: number): Set<string> {
  const lines = read(`/proc/${pid}/net/unix`).split('\n').slice(1);
  return new Set(lines.map((line) => `socket:[${line.trim().split(/\s+/)[6]}]`));
}

function pids(): number[] {
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The fields of /proc/PID/stat from the state on; the name before it may hold spaces and brackets. */
function stat(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function entries(path: string): string[] {
  return tried(() => readdirSync(path)) ?? [];
}

/** Into one buffer again and again: after each test hundreds of small files are looked at. */
function read(path: string): string {
  const fd = tried(() => openSync(path, 'r'));
  if (fd === null) return '';
  let text = '';
  for (let length = -1; length !== 0; ) {
    length = tried(() => readSync(fd, BUFFER)) ?? 0;
    text += BUFFER.toString('latin1', 0, length);
  }
  closeSync(fd);
  return text;
}

function link(path: string): string {
  return tried(() => readlinkSync(path)) ?? '';
}

/** What is looked at may be gone by now. */
function tried<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}
