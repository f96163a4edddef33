import type { HostedProcess } from './hosted-process.js';
import { processStat } from './process-stat.js';
import type { Closed, Exited, Started } from './transcript/process-record.js';

/** What is to be kept of a process that has just changed. */
export function factsOf(change: 'started' | 'exited' | 'closed', process: HostedProcess): Started | Exited | Closed {
  const { log } = process;
  const info = process.info();
  const now = new Date().toISOString();
  if (change === 'started') {
    const pid = info.pid as number;
    return { started_at: info.started_at ?? now, pid, start_ticks: processStat(pid)?.start_ticks ?? null, index: process.index };
  }
  if (change === 'exited')
    return { exited: log.exited as NonNullable<typeof log.exited>, exited_at: info.exited_at ?? now, reason: info.reason ?? 'exited' };
  const { total_bytes, tty, stdin } = info;
  const sizes = process.terminal?.sizes ?? [];
  return {
    closed_seq: log.closed_seq as number,
    closed_at: info.closed_at ?? now,
    total_bytes,
    accepted_bytes: stdin.accepted_bytes,
    tty,
    ...(sizes.length > 1 ? { sizes: [...sizes] } : {}),
  };
}
