import type { FastifyReply } from 'fastify';
import { sendContent } from './file-reply.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends a body that is made part by part, each when the one before has left and others had their turn: a large answer holds up
 * nobody, and is never in memory whole. One that is a single part is sent as any other.
 */
export async function sendParts(
  reply: FastifyReply,
  status: 200 | 202,
  type: string,
  parts: Iterator<Uint8Array, unknown>,
): Promise<FastifyReply> {
  const first = parts.next();
  const second = parts.next();
  if (second.done)
    return reply
      .code(status)
      .header('content-type', type)
      .send(first.done ? Buffer.alloc(0) : first.value);
  return sendContent(
    reply,
    { status, headers: { 'content-type': type }, body: inTurn([first.value as Uint8Array, second.value], parts) },
    undefined,
  );
}

async function* inTurn(begun: Uint8Array[], rest: Iterator<Uint8Array, unknown>): AsyncGenerator<Uint8Array, void> {
  yield* begun;
  for (let part = rest.next(); !part.done; part = rest.next()) {
    yield part.value;
    await new Promise(setImmediate);
  }
}
