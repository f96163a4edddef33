import { isUtf8 } from 'node:buffer';
import { decodeBase64 } from '../protocol/base64.js';
import { GatewayError } from '../protocol/error.js';
import type { FilePath } from '../protocol/file-system.js';

/** Longest path in bytes, without its end mark (PATH_MAX, path_resolution(7)). */
const MAX_PATH_BYTES = 4095;

const SLASH = 0x2f;

/**
 * The bytes of a path, taken as they are: nothing is decoded twice, nothing is normalised.
 * @throws {GatewayError} `invalid_request` unless exactly one spelling is given, `invalid_argument` for bad base64,
 * `invalid_path` for an empty path, a NUL byte or half a surrogate pair, `path_too_long`
 */
export function pathBytes({ path, path_base64 }: FilePath): Buffer {
  if ((path === undefined) === (path_base64 === undefined)) {
    throw new GatewayError('invalid_request', 'Exactly one of path and path_base64 is needed.', { field: 'path' });
  }
  const bytes = path === undefined ? Buffer.from(decodeBase64(path_base64 ?? '', 'path_base64')) : Buffer.from(path);
  if (path !== undefined && !path.isWellFormed()) throw invalid(bytes, 'it holds half a surrogate pair; give such a name as path_base64');
  if (bytes.length === 0) throw invalid(bytes, 'it is empty; the file root is "."');
  if (bytes.includes(0)) throw invalid(bytes, 'it holds a NUL byte');
  if (bytes.length > MAX_PATH_BYTES) {
    const detail = `The path has ${bytes.length} bytes; ${MAX_PATH_BYTES} are allowed.`;
    throw new GatewayError('path_too_long', detail, { limit: MAX_PATH_BYTES });
  }
  return bytes;
}

/** The names of a path, in order; empty ones (doubled, leading and trailing slashes) are left out, `.` and `..` are kept. */
export function pathNames(bytes: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const slash = bytes.indexOf(SLASH, from);
    const to = slash < 0 ? bytes.length : slash;
    if (to > from) names.push(bytes.subarray(from, to));
    from = to + 1;
  }
  return names;
}

/** Whether a path starts at the root of the machine. */
export const isAbsolute = (bytes: Buffer): boolean => bytes[0] === SLASH;

/** Whether a path ends in a slash, and so says that it is a directory. */
export const saysDirectory = (bytes: Buffer): boolean => bytes.at(-1) === SLASH;

/** Whether a name is `.`: the directory itself. */
export const isDot = (name: Buffer): boolean => name.length === 1 && name[0] === 0x2e;

/** Whether a name is `..`. */
export const isDotDot = (name: Buffer): boolean => name.length === 2 && name[0] === 0x2e && name[1] === 0x2e;

/** A path as it is shown in messages. */
export const showPath = (bytes: Buffer): string => JSON.stringify(bytes.toString());

/** Bytes as the wire carries them: as text, and as base64 where they are not UTF-8. */
export function wireText(bytes: Buffer): [text: string, base64: string | null] {
  return [bytes.toString(), isUtf8(bytes) ? null : bytes.toString('base64')];
}

function invalid(bytes: Buffer, why: string): GatewayError {
  return new GatewayError('invalid_path', `${showPath(bytes)} cannot be a path: ${why}.`, { field: 'path' });
}
