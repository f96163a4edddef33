import { MAX_WAIT_MS, type ScreenQuery } from '../protocol/index.js';
import type { HostedProcess } from './hosted-process.js';
import { waitUntil } from './wait-until.js';

/**
 * Waits for news after `after_seq`, where that is given, and then until nothing is printed for `quiet_ms`; for `wait_ms` in all.
 * @param stopping whether nobody may wait any more
 * @throws {GatewayError} `invalid_cursor`, `cursor_ahead`; the signal's reason
 */
export async function waitForScreen(
  process: HostedProcess,
  query: ScreenQuery,
  stopping: () => boolean,
  signal?: AbortSignal,
): Promise<void> {
  const { after_seq, wait_ms = 0, quiet_ms = 0 } = query;
  if (after_seq !== undefined) process.checkCursor(after_seq);
  process.expectNoFollower();
  const { log } = process;
  const ends_at = performance.now() + Math.min(wait_ms, MAX_WAIT_MS);
  const over = () => log.closed_seq !== null || stopping();
  const newsAfter = (seq: number, wait: number) => waitUntil(log.waiters, () => log.next_seq - 1 > seq || over(), wait, signal);
  if (after_seq !== undefined) await newsAfter(after_seq, ends_at - performance.now());
  for (;;) {
    const left = Math.min(quiet_ms, ends_at - performance.now());
    if (left <= 0 || over() || !(await newsAfter(log.next_seq - 1, left))) return;
  }
}
