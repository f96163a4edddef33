import type { FilePath } from '../protocol/index.js';
import { invalidParams, invalidRequest } from './rpc-error.js';

/**
 * The path that a `file:` URI names: `..` is resolved by the rules of URIs, then percent codes are read as bytes. A slash at the
 * end does not count.
 * @throws {RpcError} for a native path, another scheme or host, a query, a zero byte
 */
export function filePath(uri: string): FilePath {
  return pathOf(pathBytes(uri));
}

function pathBytes(uri: string): Buffer {
  if (!URL.canParse(uri)) throw invalidParams('invalid URI: relative URL without a base');
  const url = new URL(uri);
  if (url.protocol !== 'file:') throw invalidParams(`unsupported path URI scheme \`${url.protocol.slice(0, -1)}\``);
  if (url.host !== '') throw invalidRequest(`'${uri}' is invalid on '${process.platform}': it names another host`);
  if (url.search !== '' || url.hash !== '') throw invalidParams('query parameters are not allowed in path URIs');
  const bytes = Buffer.from(decoded(url.pathname), 'latin1');
  if (bytes.includes(0)) throw invalidParams(`'${uri}' is invalid on '${process.platform}': it holds a zero byte`);
  const end = bytes.findLastIndex((byte) => byte !== SLASH) + 1;
  return bytes.subarray(0, Math.max(end, 1));
}

const SLASH = 0x2f;

/** What is no percent code stays as it is. A parsed path is ASCII. */
const decoded = (text: string): string =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** The `file:` URI of an absolute path, given as text or as its bytes. */
export function fileUri(path: string | Uint8Array): string {
  let uri = 'file://';
  for (const byte of Buffer.from(path as string)) {
    const character = String.fromCharCode(byte);
    uri += PLAIN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return uri;
}

const PLAIN = /[A-Za-z0-9/\-._~!$&'()*+,;=:@]/;

/** The bytes of a path. */
export const bytesOf = ({ path, path_base64 }: FilePath): Buffer =>
  path_base64 === undefined ? Buffer.from(path ?? '', 'utf8') : Buffer.from(path_base64, 'base64');

/** Bytes as a path. */
export function pathOf(bytes: Buffer): FilePath {
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? { path: text } : { path_base64: bytes.toString('base64') };
}
