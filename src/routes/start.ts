import type { GatewayApp } from '../plugins/gateway-app.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { Strict } from '../protocol/schema.js';
import { ProcessId, StartRequest } from '../protocol/start.js';
import { NoQuery } from './parameters.js';

/** `POST /processes` and `PUT /processes/{process_id}`. */
export function startRoutes(app: GatewayApp, processes: ExecProcess): void {
  app.post('/processes', { schema: { body: StartRequest, querystring: NoQuery } }, async (request, reply) => {
    const { process } = await processes.start(request.body);
    return reply.code(201).header('location', processUrl(process.process_id)).send(process);
  });

  app.put(
    '/processes/:process_id',
    { schema: { params: Strict({ process_id: ProcessId }), body: StartRequest, querystring: NoQuery } },
    async (request, reply) => {
      const { process_id } = request.params;
      checkSameId(process_id, request.body.process_id);
      const { created, process } = await processes.start({ ...request.body, process_id }, { once: true });
      return reply
        .code(created ? 201 : 200)
        .header('location', processUrl(process_id))
        .send(process);
    },
  );
}

/** Where a process is found. */
export function processUrl(process_id: string): string {
  return `/processes/${process_id}`;
}

function checkSameId(path_id: string, body_id: string | undefined): void {
  if (body_id === undefined || body_id === path_id) return;
  const detail = `process_id is ${JSON.stringify(body_id)} in the body and ${JSON.stringify(path_id)} in the path: leave it out of the body.`;
  throw new GatewayError('invalid_request', detail, { field: 'process_id' });
}
