import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestWatch } from './connections.js';

/** Requests counted by route, method and status, and those under way. */
export interface RequestCounts {
  in_flight: number;
  /** Keyed by `method route status`. */
  finished: Map<string, number>;
}

/** Stands for a status where the caller left before any answer, or its body broke off. */
const LEFT = 499;

/** Logs one line a request when its reply is over, also when the caller left; counts it. Never a query, header or body. */
export class RequestLog implements RequestWatch {
  readonly counts: RequestCounts = { in_flight: 0, finished: new Map() };

  begun(): void {
    this.counts.in_flight += 1;
  }

  over({ method, log, id, url, routeOptions }: FastifyRequest, reply: FastifyReply): void {
    this.counts.in_flight -= 1;
    const status = answered(reply.raw) ? reply.raw.statusCode : LEFT;
    const route = routeOptions.url ?? 'unknown';
    const key = `${method} ${route} ${status}`;
    const { finished } = this.counts;
    finished.set(key, (finished.get(key) ?? 0) + 1);
    log.info({ req_id: id, method, path: url.split('?', 1)[0], status, ms: Math.round(reply.elapsedTime * 10) / 10, route }, 'request');
  }
}

/** A WebSocket's 101 does not go by way of the reply. */
function answered({ headersSent, statusCode }: ServerResponse): boolean {
  return headersSent || statusCode === 101;
}
