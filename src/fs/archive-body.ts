import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import type { ArchiveEncoding } from '../protocol/archive.js';
import { GatewayError } from '../protocol/error.js';
import type { FileBody } from '../protocol/file-system.js';
import { FREE_ARCHIVE_BYTES, MAX_ARCHIVE_BYTES, MAX_ARCHIVE_RATIO } from '../protocol/limits.js';
import { BodyFailure, bodyParts } from './body-parts.js';
import { ByteReader } from './byte-reader.js';

/** First bytes of what is packed (RFC 1952 §2.3.1, RFC 8878 §3.1.1). No tar begins like this. */
const MAGIC: [ArchiveEncoding, Buffer][] = [
  ['gzip', Buffer.from([0x1f, 0x8b])],
  ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
];

/** First bytes, in hex, of what is taken for a tar by mistake. A name may begin as bzip2 does, so its first block is looked at too. */
const FOREIGN: [name: string, magic: RegExp][] = [
  ['xz', /^fd377a585a00/],
  ['bzip2', /^425a683[1-9](314159265359|177245385090)/],
  ['zip', /^504b(0304|0506)/],
];

const MAGIC_BYTES = 10;

/** Unpacked at a time, in bytes. */
const CHUNK_BYTES = 64 * 1024;

/** Node has zstd from 22.15 on. */
const createZstdDecompress = (zlib as { createZstdDecompress?: (options: { chunkSize: number }) => Transform }).createZstdDecompress;

/**
 * The bytes of a tar, unpacked when it is packed, and not more of them than is allowed. What the body fails with comes as a
 * {@link BodyFailure}.
 * @param encoding default: what the first bytes say
 * @throws {GatewayError} `payload_too_large`, `invalid_archive` for what cannot be unpacked, `unsupported_media_type`
 */
export async function* tarBytes(
  body: FileBody,
  encoding: ArchiveEncoding | undefined,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const packed: Packed = { bytes: 0, failure: null };
  const source = metered(body, packed, signal);
  const reader = new ByteReader(source);
  try {
    const head = await reader.peek(MAGIC_BYTES);
    refuseForeign(head);
    const kind = encoding ?? MAGIC.find(([, magic]) => head.subarray(0, magic.length).equals(magic))?.[0];
    const bytes = bounded(kind === undefined ? reader.rest() : unpacked(reader.rest(), kind, packed), kind === undefined ? null : packed);
    for await (const part of bytes) {
      signal?.throwIfAborted(); // the body may be here whole, and unpack for long
      yield part;
    }
  } finally {
    // Not waited for: a body that hangs would hold the call.
    source.return().catch(() => undefined);
  }
}

function refuseForeign(head: Buffer): void {
  const name = FOREIGN.find(([, magic]) => magic.test(head.toString('hex')))?.[0];
  if (name === undefined) return;
  throw new GatewayError('invalid_archive', `The body is packed with ${name}: a tar is taken plain, or packed with gzip or zstd.`);
}

/** What is known of a body on its way. */
interface Packed {
  bytes: number;
  failure: BodyFailure | null;
}

async function* metered(body: FileBody, packed: Packed, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const part of bodyParts(body, signal)) {
      packed.bytes += part.length;
      yield part;
    }
  } catch (error) {
    if (error instanceof BodyFailure) packed.failure = error;
    throw error;
  }
}

async function* unpacked(source: AsyncIterable<Uint8Array>, kind: ArchiveEncoding, packed: Packed): AsyncGenerator<Uint8Array, void> {
  const unpack = unpacker(kind);
  pipeline(Readable.from(source), unpack).catch(() => undefined); // told by reading it
  try {
    for await (const part of unpack) yield part;
  } catch (error) {
    // What the source fails with would reach the reader as the transform's own failure.
    throw packed.failure ?? broken(kind, error as Error);
  } finally {
    unpack.destroy();
  }
}

function unpacker(kind: ArchiveEncoding): Transform {
  if (kind === 'gzip') return zlib.createGunzip({ chunkSize: CHUNK_BYTES });
  if (createZstdDecompress) return createZstdDecompress({ chunkSize: CHUNK_BYTES });
  const detail = 'The tar is packed with zstd, which takes a gateway on Node 22.15 or later: pack it with gzip, or not at all.';
  throw new GatewayError('unsupported_media_type', detail, { field: 'Content-Encoding', allowed: ['gzip', 'identity'] });
}

function broken(kind: ArchiveEncoding, { message }: Error): GatewayError {
  return new GatewayError('invalid_archive', `The tar cannot be unpacked with ${kind}, it is broken or cut: ${message}.`);
}

async function* bounded(source: AsyncIterable<Uint8Array>, packed: Packed | null): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  for await (const part of source) {
    bytes += part.length;
    const limit =
      packed === null ? MAX_ARCHIVE_BYTES : Math.min(MAX_ARCHIVE_BYTES, Math.max(FREE_ARCHIVE_BYTES, MAX_ARCHIVE_RATIO * packed.bytes));
    if (bytes > limit) throw tooLarge(limit);
    yield part;
  }
}

function tooLarge(limit: number): GatewayError {
  const detail =
    limit === MAX_ARCHIVE_BYTES
      ? `The tar is larger than ${limit} bytes: send it in parts.`
      : `The tar unpacks to more than ${MAX_ARCHIVE_RATIO} times its size, and to more than ${FREE_ARCHIVE_BYTES} bytes: send it without packing it.`;
  return new GatewayError('payload_too_large', detail, { limit });
}
