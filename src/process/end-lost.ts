import { setTimeout } from 'node:timers/promises';
import { DEFAULT_GRACE_MS } from '../protocol/index.js';
import { allProcesses, bootId, environmentOf } from './process-stat.js';

/** The variable that all programs of a process are known by, whoever started them. */
export const MARK = 'GATEWAY_PROCESS_MARK';

/** How often those that are to end are looked at, in milliseconds. */
const LOOK_MS = 50;

/** How often those are killed that do not even end then. */
const MOST_KILLS = 40;

/** What the programs of a lost process are found by. */
export interface LostPrograms {
  mark: string;
  boot_id: string;
  pid?: number | undefined;
  start_ticks?: number | null | undefined;
}

/** Ends what still runs of processes whose host died: SIGTERM, then SIGKILL after 2 s. Resolves when nothing does. */
export async function endLost(lost: readonly LostPrograms[]): Promise<void> {
  const boot_id = bootId();
  const ours = lost.filter((programs) => programs.boot_id === boot_id);
  if (ours.length === 0) return;
  const kill_at = performance.now() + DEFAULT_GRACE_MS;
  const asked = new Set<number>();
  let kills = 0;
  for (let found = programsOf(ours); found.length > 0; found = programsOf(ours)) {
    const kill = performance.now() >= kill_at;
    if (kill && ++kills > MOST_KILLS) return;
    for (const pid of found) {
      if (kill) send(pid, 'SIGKILL');
      else if (!asked.has(pid)) {
        asked.add(pid);
        send(pid, 'SIGTERM');
        send(pid, 'SIGCONT'); // a stopped program cannot act on SIGTERM
      }
    }
    await setTimeout(LOOK_MS);
  }
}

/**
 * Those that bear a mark, and those of a session that is surely the one of then: its leader is, or one of them bears the mark.
 * A number alone says nothing: it may have been given to another.
 */
function programsOf(lost: readonly LostPrograms[]): number[] {
  const marks = new Map(lost.map((programs) => [`${MARK}=${programs.mark}`, programs]));
  const leaders = new Map(lost.flatMap((programs) => (programs.pid ? [[programs.pid, programs.start_ticks]] : [])));
  const all = allProcesses().filter(({ pid }) => pid !== process.pid);
  const marked = new Set<number>();
  const sessions = new Set<number>();
  for (const { pid, session, start_ticks } of all) {
    if (leaders.has(pid) && leaders.get(pid) === start_ticks) sessions.add(pid);
    const programs = environmentOf(pid)
      .map((variable) => marks.get(variable))
      .find((found) => found !== undefined);
    if (programs === undefined) continue;
    marked.add(pid);
    if (programs.pid === session) sessions.add(session);
  }
  return all.filter(({ pid, session }) => marked.has(pid) || sessions.has(session)).map(({ pid }) => pid);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended, or is not ours any more (a set-user-id program)
  }
}
