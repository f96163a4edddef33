import { Agent, type IncomingMessage, request as open } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ReadableStream as NodeStream } from 'node:stream/web';

/** Answers that have no body (RFC 9110 §15): a `Response` refuses one. */
const EMPTY = new Set([204, 205, 304]);

/** A body that is waited for: most answers are, and a stream for each would take longer than the call itself. */
const SMALL_BYTES = 16 * 1024;

/**
 * A `fetch` over a unix socket, as far as the client needs it: Node's own reaches only TCP. Without a path it is one over TCP, which
 * starts faster than Node's own, and sends bytes without copying them.
 */
export function socketFetch(socketPath?: string): typeof fetch {
  // Kept connections: one that is to be closed is closed with the answer, which whoever still sends would never see.
  const agent = new Agent({ keepAlive: true });
  return (input, { method = 'GET', headers, body, signal } = {}) => {
    const { protocol, hostname, port, pathname, search } = new URL(String(input));
    if (protocol === 'https:') return fetch(input, { method, headers, body, signal, redirect: 'manual' } as RequestInit);
    const where = socketPath === undefined ? { host: hostname.replace(/^\[|\]$/g, ''), port } : { socketPath };
    const options = { ...where, method, path: pathname + search, headers: Object.fromEntries(new Headers(headers)), agent };
    return new Promise((resolve, reject) => {
      const request = open(options);
      // Without an error: the connection may be free for others by now, and then nobody listens for one.
      const give_up = () => request.destroy();
      signal?.addEventListener('abort', give_up, { once: true });
      request.on('close', () => signal?.removeEventListener('abort', give_up));
      request.on('error', reject);
      request.on('response', (reply) => {
        // Who is answered before all was sent need not send the rest.
        reply.on('close', () => request.destroy());
        responseOf(reply).then(resolve, reject);
      });
      if (body instanceof ReadableStream) pipeline(Readable.fromWeb(body as NodeStream), request).catch(reject);
      else request.end(body ?? undefined);
    });
  };
}

async function responseOf(reply: IncomingMessage): Promise<Response> {
  const status = reply.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, values] of Object.entries(reply.headersDistinct)) for (const value of values ?? []) headers.append(name, value);
  if (!EMPTY.has(status)) return new Response(await bodyOf(reply), { status, headers });
  reply.resume();
  return new Response(null, { status, headers });
}

async function bodyOf(reply: IncomingMessage): Promise<BodyInit> {
  if (!(Number(reply.headers['content-length']) <= SMALL_BYTES)) return NodeStream.from(reply) as ReadableStream;
  const parts: Uint8Array[] = [];
  for await (const part of reply) parts.push(part);
  return Buffer.concat(parts);
}
