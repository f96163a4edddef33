import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayApp } from './gateway-app.js';

/** Headers of every reply: nothing is sniffed, cached, run, framed, embedded by or told to another site. */
export const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/** Puts the safe headers and the request id on every reply. */
export function addReplyHeaders(app: GatewayApp): void {
  app.addHook('onRequest', (request, reply, done) => {
    setReplyHeaders(request, reply);
    done();
  });
}

/** The same for a reply that is made before any hook runs. */
export function setReplyHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(SAFE_HEADERS).header('x-request-id', request.id);
}
