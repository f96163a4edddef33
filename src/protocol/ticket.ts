import { type Static, Type } from '@sinclair/typebox';
import { DEFAULT_TICKET_MS, MAX_TICKET_MS, MIN_TICKET_MS } from './limits.js';
import { Count, Instant, Strict, Words } from './schema.js';
import { ProcessId } from './start.js';

/** What a ticket lets its holder do with its process. */
export const TicketScope = Words(['read', 'write'], {
  default: 'read',
  description: 'read: follow the output. write: also feed and steer it, over a WebSocket.',
});
export type TicketScope = Static<typeof TicketScope>;

/** Body of `POST /tickets`. */
export const TicketRequest = Strict({
  process_id: ProcessId,
  scope: Type.Optional(TicketScope),
  ttl_ms: Type.Optional(
    Count('How long the ticket can be used, in milliseconds.', {
      minimum: MIN_TICKET_MS,
      maximum: MAX_TICKET_MS,
      default: DEFAULT_TICKET_MS,
    }),
  ),
});
export type TicketRequest = Static<typeof TicketRequest>;

/** A short-lived key to one process, for addresses that a browser opens without headers: `?ticket=`. */
export const Ticket = Strict({
  ticket: Type.String({ description: 'To be given as the query parameter ticket.' }),
  process_id: ProcessId,
  scope: TicketScope,
  expires_at: Instant('When it can no longer be used. What was opened with it before goes on.'),
});
export type Ticket = Static<typeof Ticket>;
