import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { processStat } from './process-stat.js';
import { sessionGroups } from './session-groups.js';
import type { SignalName } from './signals.js';

/** How often a group that outlives its leader is looked at, in milliseconds: its number is free when it is gone. */
const LOOK_MS = 1_000;

/**
 * The process group of a program, which leads it. A signal is never sent to a group that is gone: the number of a
 * leader is not given out again while its group has members (the kernel keeps it), and once the leader is reaped a new
 * process with its number is the proof that the group is gone.
 */
export class ProcessGroup {
  readonly #pid: number;
  #reaped = false;
  #gone = false;
  #session_gone = false;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** To be called in the turn in which the leader was reaped. */
  leaderReaped(): void {
    this.#reaped = true;
    if (!this.alive()) return;
    const timer = setInterval(() => {
      if (!this.alive()) clearInterval(timer);
    }, LOOK_MS);
    timer.unref();
  }

  /** Whether the group has a member. */
  alive(): boolean {
    return this.#kill(0, -this.#pid);
  }

  /** Whether the session has a member: on a terminal the jobs of a shell are groups of their own. */
  sessionAlive(): boolean {
    return this.alive() || this.#otherGroups().length > 0;
  }

  /** Signals every group of the session. */
  signalSession(name: SignalName): void {
    const others = this.#otherGroups();
    this.signal(name);
    for (const group of others) this.#send(name, -group);
  }

  /** Signals every member; false when there is none. */
  signal(name: SignalName): boolean {
    return this.#kill(name, -this.#pid);
  }

  /** Signals the leader alone; false when it has ended. */
  signalLeader(name: SignalName): boolean {
    return !this.#reaped && this.#kill(name, this.#pid);
  }

  /** Whether the leader, still there, ignores a signal (Linux; elsewhere it is not known and counts as no). */
  leaderIgnores(name: SignalName): boolean {
    return !this.#reaped && ignores(this.#pid, constants.signals[name]);
  }

  /** Signals the foreground group of the leader's terminal; false when there is none. */
  signalForeground(name: SignalName): boolean {
    const group = this.#reaped ? null : foregroundGroup(this.#pid);
    return group !== null && this.#send(name, -group);
  }

  #kill(signal: SignalName | 0, target: number): boolean {
    if (this.#gone || (this.#reaped && this.#numberReused())) {
      this.#gone = true;
      return false;
    }
    const sent = this.#send(signal, target);
    if (!sent && this.#reaped) this.#gone = true;
    return sent;
  }

  /** None for good once the leader's number was given out again, which the kernel does when the session is gone. */
  #otherGroups(): number[] {
    this.#session_gone ||= this.#reaped && this.#numberReused();
    if (this.#session_gone) return [];
    return [...sessionGroups(this.#pid)].filter((group) => group !== this.#pid);
  }

  #numberReused(): boolean {
    return this.#send(0, this.#pid);
  }

  #send(signal: SignalName | 0, target: number): boolean {
    try {
      process.kill(target, signal);
      return true;
    } catch (error) {
      // EPERM: it is there, but not ours any more (a set-user-id program).
      return (error as NodeJS.ErrnoException).code === 'EPERM';
    }
  }
}

/** The mask SigIgn of /proc/PID/status (proc(5)), in which signal n is bit n - 1. */
function ignores(pid: number, signal: number): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
    return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}

/** The group in the foreground of a process's terminal; null when there is none. */
function foregroundGroup(pid: number): number | null {
  const group = processStat(pid)?.foreground_group ?? 0;
  return group > 1 ? group : null;
}
