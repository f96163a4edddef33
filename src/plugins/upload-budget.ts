import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../protocol/error.js';
import { MAX_RECEIVING_BYTES } from '../protocol/limits.js';
import type { GatewayApp } from './gateway-app.js';

/** The beginning of each body that does not count, in bytes: a small request is served whatever large ones are under way. */
const FREE_BYTES = 64 * 1024;

/**
 * Bounds the bytes of all bodies that are being received: whoever goes beyond it is refused and let go.
 * @param max_body_bytes the largest body, for which there is room in any case
 */
export function addUploadBudget(app: GatewayApp, max_body_bytes: number): void {
  const limit = Math.max(MAX_RECEIVING_BYTES, max_body_bytes);
  const budget = { left: limit };
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw, routeOptions } = request;
    if (routeOptions.config.streams) return done(null, payload); // read as it comes: it is not gathered
    if (raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > FREE_BYTES) {
      count(raw, reply.raw, budget, () => refusal(limit));
    }
    done(null, payload);
  });
}

/** Takes from the budget what arrives, and gives it back when the body is there, answered without being wanted, or its caller gone. */
function count(body: IncomingMessage, reply: ServerResponse, budget: { left: number }, refuse: () => GatewayError): void {
  let received = 0;
  let taken = 0;
  const settle = () => {
    body.off('data', take);
    budget.left += taken;
    taken = 0;
  };
  const take = (bytes: Uint8Array) => {
    received += bytes.length;
    const counts = Math.max(0, received - FREE_BYTES);
    budget.left -= counts - taken;
    taken = counts;
    if (budget.left >= 0) return;
    settle();
    body.emit('error', refuse()); // whoever gathers the body lets go of it and answers; the connection is closed after that
  };
  body
    .on('data', take)
    .on('error', () => {})
    .once('end', settle)
    .once('close', settle);
  reply.once('finish', settle);
}

function refusal(limit: number): GatewayError {
  const detail = `More than ${limit} bytes of bodies are being received at once: send this one later, or in smaller parts.`;
  return new GatewayError('upload_backpressure', detail, { limit, retry_after_ms: 1000 });
}
