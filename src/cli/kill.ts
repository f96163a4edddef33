import { persist, startRetry } from '../client/persist.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { DEFAULT_GRACE_MS } from '../protocol/limits.js';
import { beginCommand, SHORT_RETRY_MS } from './begin-command.js';
import { leave } from './leave.js';
import type { KillOptions } from './process-options.js';
import { toEach } from './to-each.js';

/** Time beyond the grace in which a process that was killed is gone, in milliseconds; and the longest wait of one call. */
const BEYOND_GRACE_MS = 4_000;
const MAX_WAIT_MS = 50_000;

/** Time in which a process that is ended with the usual grace is gone, in milliseconds. */
export const ENDED_MS = DEFAULT_GRACE_MS + BEYOND_GRACE_MS;

/**
 * Ends processes, or sends them a signal. One that fails holds up none of the others; the exit code is then 1.
 * @throws {SettingError} for an address or token that cannot be used
 */
export async function kill(process_ids: string[], options: KillOptions): Promise<void> {
  const { output, processes, ...begun } = beginCommand('kill', options, SHORT_RETRY_MS);
  const retry = startRetry(begun.retry);
  const end = async (process_id: string) => {
    const call = order(processes, process_id, options);
    await persist(call.make, { retry, wait_ms: call.wait_ms });
    return null;
  };
  await leave(output, await toEach(process_ids, output, end));
}

function order(processes: ExecProcess, process_id: string, { signal: name, grace: grace_ms }: KillOptions) {
  if (name !== undefined) {
    return { wait_ms: 0, make: (signal: AbortSignal) => processes.signal(process_id, { signal: name }, { signal }) };
  }
  const wait_ms = Math.min(MAX_WAIT_MS, (grace_ms ?? DEFAULT_GRACE_MS) + BEYOND_GRACE_MS);
  return {
    wait_ms,
    make: async (signal: AbortSignal) => {
      await processes.terminate(process_id, { grace_ms, wait_ms }, { signal });
    },
  };
}
