import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../protocol/error.js';
import type { TicketScope } from '../protocol/ticket.js';
import type { GatewayApp } from './gateway-app.js';
import { headerCount } from './raw-headers.js';
import { checkSameOrigin } from './same-origin.js';
import type { Sessions } from './sessions.js';
import { PROBE_ROUTES } from './shutdown-check.js';
import type { Tickets } from './tickets.js';
import { tokenCheck } from './token-check.js';

/** What a caller may do: everything, or what the ticket says with the one process of the path. */
export type Access = 'all' | TicketScope;

/** What takes the token's place where a browser cannot send it. */
export interface Keys {
  tickets: Tickets;
  sessions: Sessions;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks: `all` with the token or a session, `read` or `write` with a ticket. */
    access: Access;
  }
  interface FastifyContextConfig {
    /** Whether the route takes a ticket of the process in its path; without it none is taken. */
    ticket?: 'always' | 'when_following';
    /** Answers whether a request is let in whoever sends it. */
    open?: (request: FastifyRequest) => boolean;
  }
}

const SEND_TOKEN = 'Send the token of this gateway in one header: "Authorization: Bearer TOKEN".';

const TICKET_ADDRESSES = 'A ticket opens …/events, …/output?follow=true and …/attach of its process, and nothing else. ';

type Query = Record<string, string | string[] | undefined>;

/**
 * Asks for the bearer token (RFC 6750 §2.1) on everything but the probes and what is open, for the cookie of a session, or for a ticket
 * where the route takes one. A null token lets everyone in; a ticket is looked at all the same.
 */
export function addAuth(app: GatewayApp, token: string | null, keys: Keys): void {
  const admits = token === null ? () => true : admission(token, keys.sessions);
  app.decorateRequest('access', 'all');
  app.addHook('onRequest', (request, _reply, done) => {
    const { url, config } = request.routeOptions;
    if (PROBE_ROUTES.has(url) || config.open?.(request)) return done();
    try {
      request.access = access(request, admits, keys.tickets);
      done();
    } catch (error) {
      done(error as GatewayError);
    }
  });
}

function access(request: FastifyRequest, admits: (request: FastifyRequest) => boolean, tickets: Tickets): Access {
  const query = request.query as Query;
  const ticket = takesTicket(request, query) ? query.ticket : undefined;
  const has_header = request.raw.headers.authorization !== undefined;
  if (ticket !== undefined && !has_header) {
    delete query.ticket; // it is no parameter of the route
    return tickets.scope(ticket, (request.params as { process_id: string }).process_id);
  }
  if (!admits(request))
    throw new GatewayError('unauthorized', (query.ticket === undefined || has_header ? '' : TICKET_ADDRESSES) + SEND_TOKEN);
  if (ticket === undefined) return 'all';
  throw new GatewayError('invalid_request', 'A ticket came together with an Authorization header: send one of them.', { field: 'ticket' });
}

function takesTicket({ routeOptions }: FastifyRequest, query: Query): boolean {
  const { ticket } = routeOptions.config;
  return ticket === 'always' || (ticket === 'when_following' && query.follow === 'true');
}

/** Who sends an Authorization header is judged by that alone: a browser adds the cookie by itself, and the header never. */
function admission(token: string, sessions: Sessions): (request: FastifyRequest) => boolean {
  const isToken = tokenCheck(token);
  return (request) => {
    const { headers, rawHeaders } = request.raw;
    const session = headers.authorization === undefined ? sessions.find(headers.cookie) : null;
    if (session === null) {
      return isToken(Buffer.from(bearer(headers.authorization), 'latin1')) && headerCount(rawHeaders, 'authorization') === 1;
    }
    checkSameOrigin(request, session.csrf_token);
    return true;
  };
}

function bearer(header: string | undefined): string {
  return /^bearer +([^\s]+) *$/i.exec(header ?? '')?.[1] ?? '';
}
