import { type Static, Type } from '@sinclair/typebox';
import { Count, Instant, Nullable, Strict, Words } from './schema.js';
import { Labels, ProcessId, TtySize } from './start.js';

/** `starting` until the system gave a pid; `exited` when the program ended; `closed` when its output is at EOF too. */
export const ProcessState = Words(['starting', 'running', 'exited', 'closed'], {
  description: 'exited: the program ended. closed: its output is at EOF too.',
});
export type ProcessState = Static<typeof ProcessState>;

/** Why a process ended. */
export const ExitReason = Words(['exited', 'signaled', 'terminated', 'timed_out', 'shutdown', 'lost'], {
  description: 'exited: by itself. signaled: by a signal. terminated: asked for. lost: its host died.',
});
export type ExitReason = Static<typeof ExitReason>;

/** How a program ended. */
export interface Exit {
  /** 0..255; 128+n when signal n ended the program. */
  exit_code: number;
  /** The signal's name, such as SIGKILL, or null. */
  signal: string | null;
}

export const exitFields = {
  exit_code: Nullable(Count('0 to 255; 128+n when signal n ended the program; null before the end.', { maximum: 255 })),
  signal: Nullable(Type.String({ description: 'The name of the signal that ended the program.' })),
};

/** What a process uses of its machine, with all members of its group and session; a descendant in a session of its own is not counted. */
export const ProcessUsage = Strict(
  {
    cpu_ms: Count('Processor time so far, in milliseconds, in steps of 10: of all that run, and of what they started and waited for.'),
    rss_bytes: Count('Memory in use, in bytes: the sum of resident sizes, in which pages that are shared count for each.'),
  },
  { description: 'What the program and all it started in its session use.' },
);
export type ProcessUsage = Static<typeof ProcessUsage>;

/** A process, as shown everywhere. */
export const ProcessInfo = Strict(
  {
    process_id: ProcessId,
    state: ProcessState,
    pid: Nullable(Count("The operating system's process id.", { minimum: 1 })),
    argv: Type.Array(Type.String()),
    arg0: Nullable(Type.String()),
    cwd: Type.String(),
    tty: Nullable(TtySize),
    labels: Labels,
    created_at: Instant('When the start was asked for.'),
    started_at: Nullable(Instant('When the program was running.')),
    exited_at: Nullable(Instant('When the program ended.')),
    closed_at: Nullable(Instant('When its output was at EOF too.')),
    ...exitFields,
    reason: Nullable(ExitReason),
    first_seq: Count('The oldest event still held; equal to next_seq when there is none.', { minimum: 1 }),
    next_seq: Count('The number that the next event will take.', { minimum: 1 }),
    retained_bytes: Count('Output held, in bytes.'),
    total_bytes: Count('Output so far, in bytes.'),
    stdin: Strict({
      open: Type.Boolean({ description: 'Whether a write can be accepted.' }),
      accepted_bytes: Count('Input accepted so far, in bytes: the offset of the next write.'),
    }),
    usage: Type.Optional(Nullable(ProcessUsage)),
  },
  {
    description:
      'A process, as shown everywhere. What is not known yet is null. usage is there when it was asked for, and null of what does not run or where the system does not tell.',
  },
);
export type ProcessInfo = Static<typeof ProcessInfo>;

/** One page of processes, oldest first. */
export const ProcessList = Strict({
  processes: Type.Array(ProcessInfo),
  next_cursor: Nullable(Type.String({ description: 'Give it as cursor for the next page; null at the end.' })),
});
export type ProcessList = Static<typeof ProcessList>;

/** Answer to `DELETE /processes/{process_id}`. */
export const Terminated = Strict({ running: Type.Boolean({ description: 'Whether the program was running when asked.' }) });
export type Terminated = Static<typeof Terminated>;
