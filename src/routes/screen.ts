import { Type } from '@sinclair/typebox';
import { preferredType } from '../plugins/accept.js';
import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import { encodeBase64 } from '../protocol/base64.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { MAX_WAIT_MS } from '../protocol/limits.js';
import { Count, Strict } from '../protocol/schema.js';
import { longPoll } from './long-poll.js';
import { clampWait, ProcessPath } from './parameters.js';

const ScreenParameters = Strict({
  after_seq: Type.Optional(Count('Wait for an event after this one: next_seq - 1 of the last answer.')),
  wait_ms: Type.Optional(
    Count(`How long to wait, for news and for quiet together, in milliseconds; clamped to ${MAX_WAIT_MS}.`, { default: 0 }),
  ),
  quiet_ms: Type.Optional(
    Count('Wait until nothing was printed for so long, in milliseconds: a program draws in several steps.', { default: 0 }),
  ),
  paint: Type.Optional(Type.Boolean({ description: 'Also what makes another terminal show the same; in JSON.', default: false })),
});

/** `GET /processes/{process_id}/screen`. */
export function screenRoute(app: GatewayApp, processes: ExecProcess, { stopping }: Probes): void {
  app.get('/processes/:process_id/screen', { schema: { params: ProcessPath, querystring: ScreenParameters } }, async (request, reply) => {
    const { query, params, headers } = request;
    const offers = query.paint ? (['application/json'] as const) : (['text/plain', 'application/json'] as const);
    const type = preferredType(headers.accept, offers);
    if (type === null) throw new GatewayError('not_acceptable', `The screen is given as ${offers.join(' or ')}.`, { allowed: [...offers] });
    const screen = await longPoll(reply, stopping, clampWait(query.wait_ms ?? 0), (wait_ms, options) =>
      processes.screen(params.process_id, { ...query, wait_ms }, options),
    );
    if (type === 'application/json') return { ...screen, paint: screen.paint && encodeBase64(screen.paint) };
    reply.headers({
      'content-type': 'text/plain; charset=utf-8',
      'exec-next-seq': String(screen.next_seq),
      'exec-screen-complete': String(screen.complete),
    });
    return reply.send(screen.text === '' ? '' : `${screen.text}\n`);
  });
}
