import { exitOf, ROUND_MS } from '../client/run-to-end.js';
import { beginCommand } from './begin-command.js';
import { failureCode, failureLine } from './call-failure.js';
import { leave } from './leave.js';
import type { WaitOptions } from './process-options.js';

/**
 * Waits until processes have ended, and ends this program with the exit code of the last one named.
 * @throws {SettingError} for an address or token that cannot be used
 */
export async function wait(process_ids: string[], { json, retryFor, ...connection }: WaitOptions): Promise<void> {
  const { output, retry, processes } = beginCommand('wait', connection, retryFor);
  let failure = 0;
  const ended = process_ids.map(async (process_id) => {
    try {
      const process = await exitOf(processes, process_id, { retry, wait_ms: ROUND_MS });
      if (json) await output.write('stdout', Buffer.from(`${JSON.stringify(process)}\n`));
      return process.exit_code ?? 0;
    } catch (error) {
      output.say(`${process_id}: ${failureLine(error)}`);
      failure = failureCode(error);
      return failure;
    }
  });
  const codes = await Promise.all(ended);
  await leave(output, failure || (codes.at(-1) ?? 0));
}
