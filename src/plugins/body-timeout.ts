import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../protocol/error.js';
import type { GatewayApp } from './gateway-app.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route reads its body as it comes: it may take any time, as long as it does not stop. */
    streams?: boolean;
  }
}

/**
 * Refuses requests whose body does not arrive in time: whole, or, where it is read as it comes, without a pause so long. Whoever
 * waits for the body is told by its event `error`, or `stalled` where it is read as it comes, over and over until the request is over.
 * @param limit_ms in milliseconds
 */
export function addBodyTimeout(app: GatewayApp, limit_ms: number): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
      watch(request.raw, limit_ms, request.routeOptions.config.streams === true);
    done();
  });
}

function watch(request: IncomingMessage, limit_ms: number, streams: boolean): void {
  const { socket } = request;
  let seen = socket.bytesRead;
  const timer = setInterval(() => {
    if (request.complete) return clearInterval(timer);
    if (streams && socket.bytesRead > seen) {
      seen = socket.bytesRead;
      return;
    }
    request.emit(streams ? 'stalled' : 'error', new GatewayError('request_timeout', 'The body did not arrive in time: send it again.'));
  }, limit_ms).unref();
  request.on('error', () => {}).once('close', () => clearInterval(timer));
}
