import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import { preferredType } from '../plugins/accept.js';
import type { ArchiveEncoding } from '../protocol/archive.js';

/** Node has zstd from 22.15 on. */
const createZstdCompress = (zlib as { createZstdCompress?: (options: { chunkSize: number }) => Transform }).createZstdCompress;

/** How bodies can be packed here, the best first. */
export const ENCODINGS: readonly ArchiveEncoding[] = createZstdCompress ? ['zstd', 'gzip'] : ['gzip'];

/** Packed at a time, in bytes. */
const CHUNK_BYTES = 64 * 1024;

/** Half again as large as at level 6, and packed three times as fast. */
const GZIP_LEVEL = 2;

/** The way of packing that a caller likes best (RFC 9110 §12.5.3); null to pack nothing, as for one that does not say. */
export function preferredEncoding(accept: string | undefined): ArchiveEncoding | null {
  if (accept === undefined) return null;
  // A "*" stands for all that are not named, as "*/*" does among media types.
  const preferred = preferredType(accept.replaceAll(/(?<=^|,)\s*\*(?=\s*[,;]|\s*$)/g, '*/*'), [...ENCODINGS, 'identity'] as const);
  return preferred === 'identity' ? null : preferred;
}

/** Packs a body as it is read; what the body fails with comes out of it. */
export async function* packed(body: AsyncIterable<Uint8Array>, encoding: ArchiveEncoding): AsyncGenerator<Uint8Array, void> {
  const pack =
    encoding === 'zstd' && createZstdCompress
      ? createZstdCompress({ chunkSize: CHUNK_BYTES })
      : zlib.createGzip({ chunkSize: CHUNK_BYTES, level: GZIP_LEVEL });
  const source = Readable.from(body, { highWaterMark: 1 });
  const done = pipeline(source, pack).catch(() => undefined); // told by reading it
  try {
    for await (const part of pack) yield part;
  } finally {
    source.destroy();
    pack.destroy();
    await done;
  }
}
