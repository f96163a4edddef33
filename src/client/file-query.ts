import type { WriteFileOptions } from '../protocol/file-system.js';

/** Permission bits as the query has them. */
export const octal = (mode: number | undefined) => mode?.toString(8);

/** The conditions of a change as headers (RFC 9110 §13.1). */
export function conditionHeaders({
  if_match,
  if_none_match,
}: Pick<WriteFileOptions, 'if_match' | 'if_none_match'>): Record<string, string> {
  const headers: Record<string, string> = {};
  if (if_match !== undefined) headers['if-match'] = tagList(if_match);
  if (if_none_match !== undefined) headers['if-none-match'] = tagList(if_none_match);
  return headers;
}

const tagList = (tags: string | string[]) => [tags].flat().join(', ');
