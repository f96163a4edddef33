import { GatewayError } from '../protocol/error.js';
import { DEFAULT_TICKET_MS } from '../protocol/limits.js';
import type { Ticket, TicketRequest, TicketScope } from '../protocol/ticket.js';
import { SigningKey, sameText } from './signing-key.js';

const AGAIN = 'ask for a new one by POST /tickets';

/**
 * Gives out tickets and reads them again; nothing is kept of them. A ticket is `scope.expiry.process_id.mac`, signed by
 * HMAC-SHA-256 with a key made from the token, so that all gateways with one token take each other's.
 */
export class Tickets {
  readonly #key: SigningKey;

  /** @param token without one, tickets are good until the gateway ends */
  constructor(token: string | null) {
    this.#key = new SigningKey(token, 'exec-gateway ticket');
  }

  make({ process_id, scope = 'read', ttl_ms = DEFAULT_TICKET_MS }: TicketRequest): Ticket {
    const expires = Date.now() + ttl_ms;
    const claims = `${scope}.${expires.toString(36)}.${process_id}`;
    return { ticket: `${claims}.${this.#key.mac(claims)}`, process_id, scope, expires_at: new Date(expires).toISOString() };
  }

  /**
   * What a ticket allows with a process.
   * @param ticket as it stands in the query
   * @throws {GatewayError} `invalid_ticket`, `ticket_expired`, `ticket_for_another`
   */
  scope(ticket: string | string[], process_id: string): TicketScope {
    if (Array.isArray(ticket)) throw new GatewayError('invalid_ticket', `ticket is given ${ticket.length} times: give it once.`);
    const [, claims = '', scope, expiry = '', of_process, mac = ''] = /^((read|write)\.([0-9a-z]+)\.(.+))\.([^.]*)$/.exec(ticket) ?? [];
    if (!sameText(mac, this.#key.mac(claims))) {
      throw new GatewayError('invalid_ticket', `The ticket is not one that this gateway gave out: ${AGAIN}.`);
    }
    const expires = Number.parseInt(expiry, 36);
    if (Date.now() >= expires) {
      const until = new Date(expires).toISOString();
      throw new GatewayError('ticket_expired', `The ticket was good until ${until}: ${AGAIN}, and continue after the last event.`);
    }
    if (of_process !== process_id) {
      throw new GatewayError('ticket_for_another', `The ticket is for another process: ${AGAIN} for this one.`, { process_id });
    }
    return scope as TicketScope;
  }
}
