import type { Encoding, ReadOutput } from '../protocol/output.js';
import { asciiBytes } from './ascii-bytes.js';

/** Bytes as JSON carries them. Decoding as UTF-8 replaces what is not UTF-8. */
export function bytesText(bytes: Uint8Array, encoding: Encoding): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding);
}

/** The answer to a read as JSON: a `ReadResult`. */
export function readResultJson({ chunks, ...rest }: ReadOutput, encoding: Encoding): Buffer {
  if (encoding === 'utf8') {
    return Buffer.from(
      JSON.stringify({ chunks: chunks.map(({ seq, stream, chunk }) => ({ seq, stream, chunk: bytesText(chunk, encoding) })), ...rest }),
    );
  }
  const parts = chunks.flatMap(({ seq, stream, chunk }, at) => [
    `${at === 0 ? '' : ','}{"seq":${seq},"stream":"${stream}","chunk":"`,
    chunk,
    '"}',
  ]);
  return asciiBytes(['{"chunks":[', ...parts, `],${JSON.stringify(rest).slice(1)}`]);
}
