import { GatewayError } from '../protocol/error.js';
import type { GatewayApp } from './gateway-app.js';

/** Routes that answer without a token and during a shutdown. */
export const PROBE_ROUTES: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz']);

/** Refuses everything but the probes once the gateway is going down. */
export function addShutdownCheck(app: GatewayApp, shutting_down: () => boolean): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!shutting_down() || PROBE_ROUTES.has(request.routeOptions.url)) return done();
    done(shuttingDown());
  });
}

/** The refusal of what the gateway takes on, or goes on with, no more. */
export const shuttingDown = () =>
  new GatewayError('shutting_down', 'The gateway is shutting down and takes no new requests: try again when it is back.');
