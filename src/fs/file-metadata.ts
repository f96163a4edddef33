import type { BigIntStats } from 'node:fs';
import type { FileMetadata } from '../protocol/index.js';
import { fileType } from './file-type.js';
import { wireText } from './path-bytes.js';

/** Years that RFC 3339 can say, in milliseconds. */
const EARLIEST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Metadata as the wire carries it.
 * @param target a link's text
 */
export function fileMetadata(stats: BigIntStats, target?: Buffer): FileMetadata {
  const [text, base64] = target ? wireText(target) : [null, null];
  return {
    type: fileType(stats),
    size_bytes: safe(stats.size),
    mode: Number(stats.mode & 0o7777n),
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    modified_at: instant(stats.mtimeNs),
    created_at: stats.birthtimeNs > 0n ? instant(stats.birthtimeNs) : null,
    etag: stats.isFile() ? etagOf(stats) : null,
    target: text,
    target_base64: base64,
  };
}

/** A strong entity tag: it changes with the file, its size, and the nanosecond of its last change (RFC 9110 §8.8.3). */
export function etagOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `"${[dev, ino, size, mtimeNs, ctimeNs].map((part) => BigInt.asUintN(64, part).toString(16)).join('-')}"`;
}

function instant(ns: bigint): string {
  return new Date(Math.min(Math.max(Number(ns / 1_000_000n), EARLIEST_MS), LATEST_MS)).toISOString();
}

const safe = (value: bigint): number => Number(value > BigInt(Number.MAX_SAFE_INTEGER) ? BigInt(Number.MAX_SAFE_INTEGER) : value);
