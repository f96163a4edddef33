import { GatewayError, type WriteFileOptions } from '../protocol/index.js';

/**
 * Holds the conditions of a change against what is there (RFC 9110 §13.1).
 * @param etag of what is there; null for what has none; undefined when nothing is there
 * @throws {GatewayError} `precondition_failed`, with the etag that is there
 */
export function checkPrecondition(
  { if_match, if_none_match }: Pick<WriteFileOptions, 'if_match' | 'if_none_match'>,
  etag: string | null | undefined,
): void {
  const fields = etag ? { etag } : {};
  if (if_match !== undefined && !matches(if_match, etag)) {
    const there = etag === undefined ? 'nothing is there' : etag === null ? 'what is there is no file' : `it has the etag ${etag}`;
    throw new GatewayError('precondition_failed', `if_match does not hold: ${there}. Read it anew.`, fields);
  }
  if (if_none_match !== undefined && matches(if_none_match, etag)) {
    throw new GatewayError('precondition_failed', 'if_none_match does not hold: it is there already.', fields);
  }
}

function matches(condition: string | string[], etag: string | null | undefined): boolean {
  if (condition === '*') return etag !== undefined;
  return typeof etag === 'string' && [condition].flat().includes(etag);
}
