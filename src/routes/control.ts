import { Type } from '@sinclair/typebox';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { SignalRequest } from '../protocol/control.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { DEFAULT_GRACE_MS, MAX_GRACE_MS } from '../protocol/limits.js';
import { Count, Strict } from '../protocol/schema.js';
import { TtySize } from '../protocol/start.js';
import { whileCallerStays } from './caller-gone.js';
import { clampWait, NoQuery, ProcessPath, WaitMs } from './parameters.js';

const TerminateParameters = Strict({
  grace_ms: Type.Optional(Count('Between SIGTERM and SIGKILL, in milliseconds.', { maximum: MAX_GRACE_MS, default: DEFAULT_GRACE_MS })),
  wait_ms: WaitMs('the output to be closed'),
  purge: Type.Optional(Type.Boolean({ description: 'Also forget the record, at once.', default: false })),
});

/** `POST …/signal`, `POST …/resize` and `DELETE /processes/{process_id}`. */
export function controlRoutes(app: GatewayApp, processes: ExecProcess): void {
  app.post(
    '/processes/:process_id/signal',
    { schema: { params: ProcessPath, querystring: NoQuery, body: SignalRequest } },
    async (request, reply) => {
      await processes.signal(request.params.process_id, request.body);
      return reply.code(204).send();
    },
  );

  app.post(
    '/processes/:process_id/resize',
    { schema: { params: ProcessPath, querystring: NoQuery, body: TtySize } },
    async (request, reply) => {
      await processes.resize(request.params.process_id, request.body);
      return reply.code(204).send();
    },
  );

  app.delete('/processes/:process_id', { schema: { params: ProcessPath, querystring: TerminateParameters } }, async (request, reply) => {
    const query = { ...request.query, wait_ms: clampWait(request.query.wait_ms) };
    return whileCallerStays(reply, (caller) => processes.terminate(request.params.process_id, query, caller));
  });
}
