import { randomBytes } from 'node:crypto';
import type { ByteRange } from './byte-ranges.js';

/** Several parts of a file as one body, `multipart/byteranges` (RFC 9110 §14.6). */
export interface Multipart {
  content_type: string;
  /** Of the whole body, in bytes. */
  length: number;
  body: AsyncIterable<Uint8Array>;
}

/**
 * @param type of the file
 * @param size of the file, in bytes
 * @param read the bytes of one part
 */
export function multipart(parts: ByteRange[], type: string, size: number, read: (part: ByteRange) => AsyncIterable<Uint8Array>): Multipart {
  const boundary = randomBytes(16).toString('hex');
  const head = ({ first, last }: ByteRange) =>
    Buffer.from(`\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: bytes ${first}-${last}/${size}\r\n\r\n`);
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    content_type: `multipart/byteranges; boundary=${boundary}`,
    length: parts.reduce((sum, part) => sum + head(part).length + part.last - part.first + 1, end.length),
    body: (async function* () {
      for (const part of parts) {
        yield head(part);
        yield* read(part);
      }
      yield end;
    })(),
  };
}
