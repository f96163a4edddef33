import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../protocol/error.js';

/**
 * The body of a request as it arrives, asked for (`100 Continue`) when it is first read. What is left of it when the
 * reading ends is not the reader's concern.
 * @param max_bytes the largest body, in bytes; null for any
 * @throws {GatewayError} `payload_too_large`, before the first byte where Content-Length tells; `request_timeout`
 */
export function uploadBody(request: IncomingMessage, response: ServerResponse, max_bytes: number | null): AsyncIterable<Uint8Array> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (max_bytes !== null && declared > max_bytes) throw tooLarge(max_bytes);
  return (async function* () {
    if (request.headers.expect !== undefined) response.writeContinue();
    // Leaving the loop must not cut the connection: the answer still goes over it.
    const chunks = request.iterator({ destroyOnReturn: false });
    try {
      for (let bytes = 0; ; ) {
        const { done, value: chunk } = await unlessStalled(request, chunks.next());
        if (done) return;
        bytes += chunk.length;
        if (max_bytes !== null && bytes > max_bytes) throw tooLarge(max_bytes);
        yield chunk;
      }
    } finally {
      void chunks.return?.(); // of one that has stalled it is done when the connection ends
    }
  })();
}

/** @throws what the body timeout says of a body that has stopped */
function unlessStalled<T>(request: IncomingMessage, next: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.once('stalled', reject);
    next.then(resolve, reject).finally(() => request.off('stalled', reject));
  });
}

/** The refusal of a file that is larger than this gateway takes. */
export function tooLarge(limit: number): GatewayError {
  return new GatewayError('payload_too_large', `The file is larger than ${limit} bytes, which is the limit (--max-file-bytes).`, { limit });
}
