import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../protocol/error.js';
import type { TicketScope } from '../protocol/ticket.js';
import type { GatewayApp } from './gateway-app.js';
import { headerCount } from './raw-headers.js';
import { PROBE_ROUTES } from './shutdown-check.js';
import type { Tickets } from './tickets.js';

/** What a caller may do: everything, or what the ticket says with the one process of the path. */
export type Access = 'all' | TicketScope;

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks: `all` with the token, `read` or `write` with a ticket. */
    access: Access;
  }
  interface FastifyContextConfig {
    /** Whether the route takes a ticket of the process in its path; without it none is taken. */
    ticket?: 'always' | 'when_following';
  }
}

const SEND_TOKEN = 'Send the token of this gateway in one header: "Authorization: Bearer TOKEN".';

const TICKET_ADDRESSES = 'A ticket opens …/events, …/output?follow=true and …/attach of its process, and nothing else. ';

type Query = Record<string, string | string[] | undefined>;

/**
 * Asks for the bearer token (RFC 6750 §2.1) on everything but the probes, or for a ticket where the route takes one. A null
 * token lets everyone in; a ticket is looked at all the same.
 */
export function addAuth(app: GatewayApp, token: string | null, tickets: Tickets): void {
  const admits = token === null ? () => true : bearerCheck(token);
  app.decorateRequest('access', 'all');
  app.addHook('onRequest', (request, reply, done) => {
    if (PROBE_ROUTES.has(request.routeOptions.url)) return done();
    try {
      request.access = access(request, admits, tickets);
      done();
    } catch (error) {
      if ((error as GatewayError).status === 401) reply.header('www-authenticate', 'Bearer');
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

function bearerCheck(token: string): (request: FastifyRequest) => boolean {
  const expected = digest(Buffer.from(token, 'utf8'));
  return ({ raw: { headers, rawHeaders } }) => {
    // Digests are of equal length, and comparing them tells nothing about the token.
    const given = digest(Buffer.from(bearer(headers.authorization), 'latin1'));
    return timingSafeEqual(given, expected) && headerCount(rawHeaders, 'authorization') === 1;
  };
}

function bearer(header: string | undefined): string {
  return /^bearer +([^\s]+) *$/i.exec(header ?? '')?.[1] ?? '';
}

function digest(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}
