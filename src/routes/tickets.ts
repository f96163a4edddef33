import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Tickets } from '../plugins/tickets.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { TicketRequest } from '../protocol/ticket.js';
import { NoQuery } from './parameters.js';

/** `POST /tickets`. */
export function ticketRoute(app: GatewayApp, processes: ExecProcess, tickets: Tickets): void {
  app.post('/tickets', { schema: { querystring: NoQuery, body: TicketRequest } }, async (request, reply) => {
    await processes.get(request.body.process_id);
    return reply.code(201).send(tickets.make(request.body));
  });
}
