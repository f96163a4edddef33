import type { FastifyRequest } from 'fastify';
import { type Logger, pino } from 'pino';
import type { GatewayApp } from './gateway-app.js';

/** Requests counted by route, method and status, and those under way. */
export interface RequestCounts {
  in_flight: number;
  /** Keyed by `method route status`. */
  finished: Map<string, number>;
}

/** Log lines that wait for a slow reader of standard error, in bytes; beyond it they are dropped: nobody waits for a log. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Lines are written together, so many bytes or so many milliseconds at a time: one by one they would cost as much as a request. */
const MIN_WRITE_BYTES = 4096;
const MAX_DELAY_MS = 100;

/** Stands for a status where the caller left before any answer, or its body broke off. */
const LEFT = 499;

/** A log to standard error: standard output is for what people asked to see. Waiting lines are written at exit too. */
export function createLogger(level: string): Logger {
  const destination = pino.destination({
    dest: 2,
    sync: false,
    maxLength: MAX_WAITING_BYTES,
    minLength: MIN_WRITE_BYTES,
    periodicFlush: MAX_DELAY_MS,
  });
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** Logs one line a request when its reply is over, also when the caller left; counts it. Never a query, header or body. */
export function addRequestLog(app: GatewayApp): RequestCounts {
  const counts: RequestCounts = { in_flight: 0, finished: new Map() };
  app.addHook('onRequest', (request, reply, done) => {
    const begun = performance.now();
    counts.in_flight += 1;
    reply.raw.once('close', () => {
      counts.in_flight -= 1;
      finish(counts, request, reply.raw.headersSent ? reply.raw.statusCode : LEFT, performance.now() - begun);
    });
    done();
  });
  return counts;
}

function finish(counts: RequestCounts, request: FastifyRequest, status: number, ms: number): void {
  const { method, log, id } = request;
  const route = request.routeOptions.url ?? 'unknown';
  const key = `${method} ${route} ${status}`;
  counts.finished.set(key, (counts.finished.get(key) ?? 0) + 1);
  log.info({ req_id: id, method, path: request.url.split('?', 1)[0], status, ms: Math.round(ms * 10) / 10, route }, 'request');
}
