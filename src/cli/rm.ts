import { persist, startRetry } from '../client/persist.js';
import { GatewayError } from '../protocol/error.js';
import { beginCommand, SHORT_RETRY_MS } from './begin-command.js';
import { ENDED_MS } from './kill.js';
import { leave } from './leave.js';
import type { RmOptions } from './process-options.js';
import { toEach } from './to-each.js';

/**
 * Forgets processes that have ended, which frees their ids; with `--force` it ends those that run. The exit code is 1 when one failed.
 * @throws {SettingError} for an address or token that cannot be used
 */
export async function rm(process_ids: string[], options: RmOptions): Promise<void> {
  const { output, processes, ...begun } = beginCommand('rm', options, SHORT_RETRY_MS);
  const retry = startRetry(begun.retry);
  const forget = async (process_id: string) => {
    const { exited_at } = await persist((signal) => processes.get(process_id, {}, { signal }), { retry });
    if (exited_at === null && !options.force) return `it runs: exec-gateway kill ${process_id} ends it, rm --force does both`;
    const purge = async (signal: AbortSignal, again: boolean) => {
      const gone = (error: unknown) => {
        // The answer to the first attempt got lost.
        if (!again || !(error instanceof GatewayError) || error.code !== 'process_not_found') throw error;
      };
      await processes.terminate(process_id, { purge: true, wait_ms: ENDED_MS }, { signal }).catch(gone);
    };
    await persist(purge, { retry, wait_ms: ENDED_MS });
    return null;
  };
  await leave(output, await toEach(process_ids, output, forget));
}
