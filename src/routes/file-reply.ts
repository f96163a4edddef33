import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { breakOff } from '../plugins/break-off.js';

/** What a reply with the content of a file is made of. */
export interface FileReply {
  status: 200 | 202 | 206;
  headers: Record<string, string>;
  /** Left when the caller leaves; what it throws breaks the transfer off, so that it never looks complete. */
  body: AsyncIterable<Uint8Array>;
}

/** Sends content at the caller's pace: one block is on its way, and none is read before it has left, so that all may share one buffer. */
export async function sendContent(
  reply: FastifyReply,
  { status, headers, body }: FileReply,
  signal: AbortSignal | undefined,
): Promise<FastifyReply> {
  const response = reply.hijack().raw;
  response.writeHead(status, { ...(reply.getHeaders() as Record<string, string>), ...headers });
  try {
    for await (const bytes of body) {
      await written(response, bytes);
      if (signal?.aborted || response.destroyed) return reply;
    }
    response.end();
  } catch (error) {
    reply.log.debug({ req_id: reply.request.id, err: error }, 'transfer broken off');
    breakOff(response);
  }
  return reply;
}

/** Resolves when the system has taken the bytes, or the caller is gone. */
function written(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('close', done);
      resolve();
    };
    response.once('close', done);
    response.write(bytes, done);
  });
}
