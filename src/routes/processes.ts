import { Type } from '@sinclair/typebox';
import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { DEFAULT_PAGE, MAX_PAGE } from '../protocol/limits.js';
import { ProcessState } from '../protocol/process.js';
import { Count, Strict } from '../protocol/schema.js';
import { longPoll } from './long-poll.js';
import { clampWait, LabelQuery, labelPairs, ProcessPath, WaitMs } from './parameters.js';

const Usage = Type.Optional(Type.Boolean({ description: 'Also what each running process uses.', default: false }));

/** Query parameters of the list. */
export const ListParameters = Strict({
  state: Type.Optional(ProcessState),
  label: LabelQuery,
  limit: Type.Optional(Count('Processes in one answer.', { minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE })),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the page before.' })),
  usage: Usage,
});

/** `GET /processes` and `GET /processes/{process_id}`. */
export function processRoutes(app: GatewayApp, processes: ExecProcess, { stopping }: Probes): void {
  app.get('/processes', { schema: { querystring: ListParameters } }, async (request) => {
    const { label, ...query } = request.query;
    return processes.list({ ...query, label: labelPairs(label) });
  });

  app.get(
    '/processes/:process_id',
    { schema: { params: ProcessPath, querystring: Strict({ wait_ms: WaitMs('the exit'), usage: Usage }) } },
    async (request, reply) => {
      const { process_id } = request.params;
      const { usage } = request.query;
      const wait_ms = clampWait(request.query.wait_ms ?? 0);
      return longPoll(reply, stopping, wait_ms, (wait, options) => processes.get(process_id, { wait_ms: wait, usage }, options));
    },
  );
}
