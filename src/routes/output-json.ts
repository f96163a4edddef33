import type { Encoding, ReadOutput, ReadResult } from '../protocol/output.js';

/** Bytes as JSON carries them. Decoding as UTF-8 replaces what is not UTF-8. */
export function bytesText(bytes: Uint8Array, encoding: Encoding): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding);
}

/** The answer to a read. */
export function readResult(output: ReadOutput, encoding: Encoding): ReadResult {
  return { ...output, chunks: output.chunks.map(({ seq, stream, chunk }) => ({ seq, stream, chunk: bytesText(chunk, encoding) })) };
}
