import { startRetry } from '../client/persist.js';
import type { ProcessInfo } from '../protocol/process.js';
import { beginCommand, SHORT_RETRY_MS } from './begin-command.js';
import { everyProcess } from './every-process.js';
import { leave, leaveFailed } from './leave.js';
import type { PsOptions } from './process-options.js';
import { processTable } from './process-table.js';

/**
 * Lists the processes of the gateway.
 * @throws {SettingError} for an address or token that cannot be used
 */
export async function ps({ all, label, json, quiet, ...connection }: PsOptions): Promise<void> {
  const { output, retry, processes } = beginCommand('ps', connection, SHORT_RETRY_MS);
  const print = (text: string) => output.write('stdout', Buffer.from(`${text}\n`));
  try {
    const shown: ProcessInfo[] = [];
    for await (const found of everyProcess(processes, { label }, startRetry(retry))) {
      if (!all && (found.state === 'closed' || found.exited_at !== null)) continue;
      if (json) await print(JSON.stringify(found));
      else if (quiet) await print(found.process_id);
      else shown.push(found);
    }
    if (!json && !quiet) await print(processTable(shown, Date.now(), process.stdout.columns ?? null));
    await leave(output, 0);
  } catch (error) {
    await leaveFailed(output, error);
  }
}
