import { persist } from '../client/persist.js';
import type { RetryOptions } from '../client/retry.js';
import type { ExecProcess, ListQuery } from '../protocol/exec-process.js';
import type { ProcessInfo } from '../protocol/process.js';

/** Processes of one page. */
const PAGE = 1_000;

/** All processes that match, oldest first, page by page. */
export async function* everyProcess(
  processes: ExecProcess,
  query: ListQuery,
  retry: Required<RetryOptions>,
): AsyncGenerator<ProcessInfo, void> {
  let cursor: string | undefined;
  do {
    const next = { ...query, limit: PAGE, cursor };
    const page = await persist((signal) => processes.list(next, { signal }), { retry });
    yield* page.processes;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
