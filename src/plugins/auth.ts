import { createHash, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../protocol/error.js';
import type { GatewayApp } from './gateway-app.js';
import { headerCount } from './raw-headers.js';
import { PROBE_ROUTES } from './shutdown-check.js';

/** Asks for the bearer token (RFC 6750 §2.1) on everything but the probes. Null turns the check off. */
export function addAuth(app: GatewayApp, token: string | null): void {
  if (token === null) return;
  const expected = digest(Buffer.from(token, 'utf8'));
  app.addHook('onRequest', (request, reply, done) => {
    if (PROBE_ROUTES.has(request.routeOptions.url)) return done();
    const { headers, rawHeaders } = request.raw;
    // Digests are of equal length, and comparing them tells nothing about the token.
    const given = digest(Buffer.from(bearer(headers.authorization), 'latin1'));
    if (timingSafeEqual(given, expected) && headerCount(rawHeaders, 'authorization') === 1) return done();
    reply.header('www-authenticate', 'Bearer');
    done(new GatewayError('unauthorized', 'Send the token of this gateway in one header: "Authorization: Bearer TOKEN".'));
  });
}

function bearer(header: string | undefined): string {
  return /^bearer +([^\s]+) *$/i.exec(header ?? '')?.[1] ?? '';
}

function digest(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
