import { GatewayError } from '../protocol/error.js';

/** "", "." and ".." would lead to another address, so they never leave. */
export const DOTS = /^\.{0,2}$/;

/**
 * Where a process is found.
 * @param below what of it, with a leading slash
 * @throws {GatewayError} `process_not_found` for what no id can be, `invalid_argument` for what is no text
 */
export function pathOf(process_id: string, below = ''): string {
  if (typeof process_id !== 'string') {
    throw new GatewayError('invalid_argument', `process_id must be the id of a process, as text, not ${typeof process_id}.`, {
      field: 'process_id',
    });
  }
  if (DOTS.test(process_id)) {
    throw new GatewayError('process_not_found', `There is no process ${JSON.stringify(process_id)}: no id is empty or made of dots.`, {
      process_id,
    });
  }
  return `/processes/${encodeURIComponent(process_id.toWellFormed())}${below}`;
}
