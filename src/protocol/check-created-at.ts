import { GatewayError } from './error.js';
import { quoted } from './quoted.js';

/**
 * Keeps what is meant for one process from a later one under its id: `purge` frees an id at once.
 * @param created_at of the process that has the id now
 * @param meant of the one that is meant; both as `ProcessInfo` tells them
 * @throws {GatewayError} `process_not_found`
 */
export function checkCreatedAt(process_id: string, created_at: string, meant: string): void {
  if (created_at === meant) return;
  const detail = `The process ${quoted(process_id)} created at ${meant} was purged: another one has its id by now, created at ${created_at}.`;
  throw new GatewayError('process_not_found', detail, { process_id });
}
