import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { mimes } from 'mrmime';
import { GatewayError } from '../protocol/error.js';

/** A file of the dashboard, in memory. */
export interface WebFile {
  type: string;
  /** A digest of its content, as text. */
  digest: string;
  plain: Buffer;
  /** The same packed; null where that saves nothing. */
  gzip: Buffer | null;
}

/** Reads files when they are first asked for, and keeps them: they are few, and change with the version alone. */
export function webFileLoader(): (path: string) => Promise<WebFile> {
  const loaded = new Map<string, Promise<WebFile>>();
  return (path) => {
    const known = loaded.get(path);
    if (known !== undefined) return known;
    const loading = load(path);
    loaded.set(path, loading);
    loading.catch(() => loaded.delete(path));
    return loading;
  };
}

/** @throws {GatewayError} `not_found` */
async function load(path: string): Promise<WebFile> {
  const plain = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new GatewayError('not_found', `A file of the dashboard cannot be read (${error.code}): install the gateway anew.`);
  });
  const packed = await promisify(gzip)(plain, { level: 9 });
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return { type: typeOf(path), digest, plain, gzip: packed.length < plain.length * 0.9 ? packed : null };
}

function typeOf(path: string): string {
  const type = mimes[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}
