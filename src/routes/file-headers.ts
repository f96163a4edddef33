import { mimes } from 'mrmime';
import { decodeBase64 } from '../protocol/base64.js';
import type { FileMetadata } from '../protocol/file.js';
import type { FilePath } from '../protocol/file-system.js';

/** Media types by extension; some are those of the files a developer's machine has. */
const TYPES = new Map(Object.entries({ ...mimes, ts: 'text/plain', mts: 'text/plain', cts: 'text/plain', rs: 'text/plain' }));

/** Types that a browser shows and never runs, or saves anyway. Whatever else there is, it is asked to save. */
const SHOWN = /^(text\/(plain|csv|markdown|yaml)|image\/(?!svg)|audio\/|video\/|application\/(json|octet-stream)$)/;

/** What a page could load as a script (https://mimesniff.spec.whatwg.org/#javascript-mime-type) or a style sheet. */
const LOADED = /^(text|application)\/(x-)?(javascript|ecmascript|jscript|livescript)|^text\/css$/;

/** A file may be a page: shown after all it runs no script, loads nothing, and is of no origin. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/** Headers of every reply that holds the content of a file, or says that it has not changed. */
export function fileHeaders(path: FilePath, metadata: FileMetadata, download: boolean): Record<string, string> {
  const name = lastName(path);
  const saved = download || !SHOWN.test(mediaType(name));
  return {
    'content-type': contentType(name),
    ...(metadata.etag === null ? {} : { etag: metadata.etag }),
    'last-modified': new Date(metadata.modified_at).toUTCString(),
    'accept-ranges': 'bytes',
    'exec-metadata': JSON.stringify(metadata),
    // It may be kept and must be asked about again; nothing on the way may change bytes that ranges count.
    'cache-control': 'private, no-cache, no-transform',
    'content-security-policy': POLICY,
    ...(saved ? { 'content-disposition': attachment(name) } : {}),
  };
}

/**
 * The Content-Type of a file, by its name; text is taken for UTF-8. Scripts and style sheets are plain text and WebAssembly is bytes, so
 * that no page of the gateway can load a file as its own code.
 */
export function contentType(name: string): string {
  const type = mediaType(name);
  if (type === 'application/wasm') return 'application/octet-stream';
  const told = LOADED.test(type) ? 'text/plain' : type;
  return told.startsWith('text/') ? `${told}; charset=utf-8` : told;
}

function mediaType(name: string): string {
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
  return TYPES.get(extension) ?? 'application/octet-stream';
}

/** A Content-Disposition that saves under a name (RFC 6266); `filename*` (RFC 8187) where ASCII cannot tell it. */
export function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]/g, '_').replaceAll(/["\\%]/g, '_');
  if (plain === name) return `attachment; filename="${name}"`;
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** The last name of a path; what is not UTF-8 in it shows as U+FFFD. */
export function lastName({ path, path_base64 }: FilePath): string {
  const text = path ?? new TextDecoder().decode(decodeBase64(path_base64 ?? '', 'path_base64'));
  return text.split('/').findLast((part) => part !== '') ?? '';
}
