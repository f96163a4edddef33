import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../protocol/error.js';

/** Handed on at a time, in bytes: what comes from the network in small parts is not worth a write of its own each. */
const BLOCK_BYTES = 256 * 1024;

/**
 * The body of a request as it arrives, asked for (`100 Continue`) when it is first read. What is left of it when the
 * reading ends is not the reader's concern.
 * @param max_bytes the largest body, in bytes; null for any
 * @throws {GatewayError} `payload_too_large`, before the first byte where Content-Length tells
 */
export function uploadBody(request: IncomingMessage, response: ServerResponse, max_bytes: number | null): AsyncIterable<Uint8Array> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (max_bytes !== null && declared > max_bytes) throw tooLarge(max_bytes);
  return (async function* () {
    if (request.headers.expect !== undefined) response.writeContinue();
    let bytes = 0;
    // Leaving the loop must not cut the connection: the answer still goes over it.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (max_bytes !== null && bytes > max_bytes) throw tooLarge(max_bytes);
      yield chunk;
    }
  })();
}

/** The same bytes in fewer, larger blocks, which all share one buffer: for who takes each before it asks for the next. */
export async function* inBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + block.length - filled);
      block.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < block.length) continue;
      yield block;
      filled = 0;
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

/** The refusal of a file that is larger than this gateway takes. */
export function tooLarge(limit: number): GatewayError {
  return new GatewayError('payload_too_large', `The file is larger than ${limit} bytes, which is the limit (--max-file-bytes).`, { limit });
}
