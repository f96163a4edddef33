import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { GatewayApp } from './gateway-app.js';

/** Requests counted by route, method and status, and those under way. */
export interface RequestCounts {
  in_flight: number;
  /** Keyed by `method route status`. */
  finished: Map<string, number>;
}

/** Stands for a status where the caller left before any answer, or its body broke off. */
const LEFT = 499;

/** Logs one line a request when its reply is over, also when the caller left; counts it. Never a query, header or body. */
export function addRequestLog(app: GatewayApp): RequestCounts {
  const counts: RequestCounts = { in_flight: 0, finished: new Map() };
  app.addHook('onRequest', (request, reply, done) => {
    const begun = performance.now();
    counts.in_flight += 1;
    reply.raw.once('close', () => {
      counts.in_flight -= 1;
      finish(counts, request, answered(reply.raw) ? reply.raw.statusCode : LEFT, performance.now() - begun);
    });
    done();
  });
  return counts;
}

/** A WebSocket's 101 does not go by way of the reply. */
function answered({ headersSent, statusCode }: ServerResponse): boolean {
  return headersSent || statusCode === 101;
}

function finish(counts: RequestCounts, request: FastifyRequest, status: number, ms: number): void {
  const { method, log, id } = request;
  const route = request.routeOptions.url ?? 'unknown';
  const key = `${method} ${route} ${status}`;
  counts.finished.set(key, (counts.finished.get(key) ?? 0) + 1);
  log.info({ req_id: id, method, path: request.url.split('?', 1)[0], status, ms: Math.round(ms * 10) / 10, route }, 'request');
}
