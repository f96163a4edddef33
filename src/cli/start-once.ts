import { attempt } from '../client/attempt.js';
import { persist, startRetry } from '../client/persist.js';
import type { RetryOptions } from '../client/retry.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import type { ProcessInfo } from '../protocol/process.js';
import { Interrupted } from './interrupted.js';
import { ENDING } from './signal-relay.js';
import type { StartOnce } from './start-request.js';

/** How long a start that was given up is taken back, in milliseconds. */
const TAKE_BACK_MS = 2_000;

/**
 * Starts a process, never twice. A signal that comes before it runs takes it back.
 * @param own whether its id was made for it, so that no other start can have made it
 * @throws {GatewayError} what refused it; {@link Interrupted}
 */
export async function startOnce(
  processes: ExecProcess,
  request: StartOnce,
  own: boolean,
  retry: Required<RetryOptions>,
): Promise<ProcessInfo> {
  const starting = new AbortController();
  const interrupt = (name: NodeJS.Signals) => starting.abort(new Interrupted(name));
  for (const name of ENDING) process.on(name, interrupt);
  try {
    const start = (signal: AbortSignal) => processes.start(request, { once: true, signal });
    return (await persist(start, { retry: startRetry(retry), signal: starting.signal })).process;
  } catch (error) {
    if (starting.signal.aborted && own) {
      const takeBack = (signal: AbortSignal) => processes.terminate(request.process_id, { grace_ms: 0 }, { signal });
      await attempt(takeBack, TAKE_BACK_MS).catch(() => {}); // it may never have begun
    }
    throw error;
  } finally {
    for (const name of ENDING) process.off(name, interrupt);
  }
}
