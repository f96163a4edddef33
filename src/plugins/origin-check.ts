import { GatewayError } from '../protocol/error.js';
import type { GatewayApp } from './gateway-app.js';

/** Refuses requests that another site's page sends, with or without a preflight; programs send no Origin and pass. */
export function addOriginCheck(app: GatewayApp, allow_origins: string[]): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { origin, host } = request.raw.headers;
    if (origin === undefined || allow_origins.includes(origin) || isSameHost(origin, host)) return done();
    done(
      new GatewayError(
        'origin_not_allowed',
        `Pages of the origin ${JSON.stringify(origin.slice(0, 100))} may not call this gateway: allow it with --allow-origin ORIGIN when they should.`,
      ),
    );
  });
}

/** Whether a page came from the host and port it calls. The scheme may differ: a proxy may speak TLS in front. */
export function isSameHost(origin: string | undefined, host: string | undefined): boolean {
  const parts = /^https?:\/\/([^/?#@\s]+)$/.exec(origin?.toLowerCase() ?? '');
  return parts !== null && host !== undefined && parts[1] === host.toLowerCase();
}
