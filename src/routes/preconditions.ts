import { GatewayError } from '../protocol/error.js';

/** Entity tags a condition names, as they were written: quotes, `W/` and all; `*` is any. */
export type EntityTags = string[] | '*';

/** What a request asks of a file, by its headers. */
export interface ConditionHeaders {
  'if-match'?: string | undefined;
  'if-none-match'?: string | undefined;
  'if-modified-since'?: string | undefined;
  'if-unmodified-since'?: string | undefined;
  'if-range'?: string | undefined;
}

/** What a file is, as far as conditions ask. */
export interface Validators {
  etag: string;
  /** Milliseconds since 1970. */
  modified_ms: number;
}

/**
 * What becomes of a GET or HEAD by its conditions (RFC 9110 §13.2.2): the content, `not_modified` or `failed`.
 * @throws {GatewayError} `invalid_request` for entity tags that are none
 */
export function judge(headers: ConditionHeaders, { etag, modified_ms }: Validators): 'send' | 'not_modified' | 'failed' {
  const match = entityTags('If-Match', headers['if-match']);
  const none_match = entityTags('If-None-Match', headers['if-none-match']);
  const seconds = Math.floor(modified_ms / 1000) * 1000;
  if (match !== undefined) {
    if (match !== '*' && !match.includes(etag)) return 'failed';
  } else if (seconds > httpDate(headers['if-unmodified-since'], Number.POSITIVE_INFINITY)) return 'failed';
  if (none_match !== undefined)
    return none_match === '*' || none_match.some((tag) => tag.replace(/^W\//, '') === etag) ? 'not_modified' : 'send';
  return seconds <= httpDate(headers['if-modified-since'], Number.NEGATIVE_INFINITY) ? 'not_modified' : 'send';
}

/**
 * Whether a Range header counts (RFC 9110 §13.1.5). A date never lets it: a file can change twice within its second, and the
 * parts of two contents would be joined.
 */
export function rangeCounts({ 'if-range': if_range }: ConditionHeaders, etag: string): boolean {
  return if_range === undefined || if_range.trim() === etag;
}

/**
 * The entity tags of a header (RFC 9110 §8.8.3); undefined without one.
 * @throws {GatewayError} `invalid_request` for what is no list of entity tags
 */
export function entityTags(name: string, header: string | undefined): EntityTags | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  const tags = header.match(TAG);
  if (tags !== null && /^[ \t,]*$/.test(header.replace(TAG, ''))) return tags;
  const got = JSON.stringify(header.slice(0, 60));
  throw new GatewayError('invalid_request', `${name} must be "*", or entity tags in double quotes as ETag gives them; got ${got}.`, {
    field: name,
  });
}

const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** An HTTP date in milliseconds; what is no date is as good as not given (RFC 9110 §13.1.3). */
export function httpDate(text: string | undefined, otherwise: number): number {
  const ms = text !== undefined && / GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? otherwise : ms;
}
