import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../protocol/error.js';
import { isSameHost } from './origin-check.js';
import { sameText } from './signing-key.js';

const SAFE = new Set(['GET', 'HEAD']);

/**
 * Refuses what another site may have made a browser send with the cookie of a session: it has to come from a page of this gateway, and
 * whatever may change something has to carry the CSRF token, which no other page can read. A WebSocket cannot carry one.
 * @param csrf_token that of the session
 * @throws {GatewayError} `not_same_origin`, `invalid_csrf_token`
 */
export function checkSameOrigin({ method, raw: { headers } }: FastifyRequest, csrf_token: string): void {
  const upgrade = headers.upgrade !== undefined;
  if (!(upgrade ? mayConnect(headers) : maySend(headers, SAFE.has(method)))) {
    const detail = 'A request with a session has to come from a page of this gateway, and a browser says that this one did not';
    throw new GatewayError('not_same_origin', `${detail}: programs send "Authorization: Bearer TOKEN" and no cookie.`);
  }
  if (SAFE.has(method)) return;
  const given = headers['x-csrf-token'];
  if (typeof given === 'string' && sameText(given, csrf_token)) return;
  const detail = `${given === undefined ? 'X-CSRF-Token is missing' : 'X-CSRF-Token is not that of the session'}`;
  throw new GatewayError('invalid_csrf_token', `${detail}: send the csrf_token of GET /session.`, { field: 'X-CSRF-Token' });
}

type Headers = FastifyRequest['raw']['headers'];

/**
 * By what the browser says of the page (Fetch Metadata, https://w3c.github.io/webappsec-fetch-metadata/), or, where it does not say it as
 * over plain HTTP, by the page's origin. Neither comes with a GET of an old browser.
 */
function maySend({ origin, host, 'sec-fetch-site': site }: Headers, safe: boolean): boolean {
  // "none" is what someone typed, or opened from a bookmark.
  if (site !== undefined) return site === 'same-origin' || (safe && site === 'none');
  return origin === undefined ? safe : isSameHost(origin, host);
}

/** Every browser gives an origin with a WebSocket; some compare ws: with http: and call the page's own address cross-site. */
function mayConnect({ origin, host, 'sec-fetch-site': site }: Headers): boolean {
  return site === 'same-origin' || isSameHost(origin, host);
}
