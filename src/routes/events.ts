import { Type } from '@sinclair/typebox';
import { preferredType } from '../plugins/accept.js';
import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import { cursorValue } from '../plugins/query-values.js';
import { GatewayError } from '../protocol/error.js';
import { EVENT_FRAMES_TYPE, FRAME_HEARTBEAT } from '../protocol/event-frame.js';
import type { ExecProcess, Subscription } from '../protocol/exec-process.js';
import { type ChangeEvent, type Gap, type ProcessEvent, Stream } from '../protocol/output.js';
import { Strict } from '../protocol/schema.js';
import { SSE_HEARTBEAT, SSE_TYPE } from '../protocol/sse.js';
import { frameBytes } from './event-frames.js';
import { changeBytes, eventBytes } from './event-text.js';
import { type LiveForm, liveReply } from './live-reply.js';
import { AfterSeq, checkHold, HoldMs, LabelQuery, labelPairs, ProcessPath } from './parameters.js';

const FollowParameters = Strict({ after_seq: AfterSeq, stream: Type.Optional(Stream), hold_ms: HoldMs });
const WatchParameters = Strict({
  label: LabelQuery,
  output: Type.Optional(Type.Boolean({ description: 'Also the output of the processes, from now on.', default: false })),
});

/** `GET /processes/{process_id}/events` and `GET /events`. */
export function eventRoutes(app: GatewayApp, processes: ExecProcess, { streamsEnd }: Probes, heartbeat_ms: number): void {
  app.get(
    '/processes/:process_id/events',
    { config: { ticket: 'always' }, schema: { params: ProcessPath, querystring: FollowParameters } },
    async (request, reply) => {
      checkHold(request.access, request.query.hold_ms);
      const after_seq = lastEventId(request.headers['last-event-id']) ?? request.query.after_seq;
      const query = { ...request.query, after_seq };
      const framed = preferredType(request.headers.accept, [SSE_TYPE, EVENT_FRAMES_TYPE]) === EVENT_FRAMES_TYPE;
      const form = ({ gap }: Subscription<ProcessEvent>) =>
        framed ? framesForm(heartbeat_ms, gap) : eventForm(eventBytes, heartbeat_ms, gap);
      return liveReply(
        reply,
        streamsEnd,
        (signal) => processes.follow(request.params.process_id, query, { signal, lend: true }),
        (subscription) => (subscription.ended ? null : form(subscription)),
      );
    },
  );

  app.get('/events', { schema: { querystring: WatchParameters } }, async (request, reply) => {
    const after_id = lastEventId(request.headers['last-event-id']);
    const query = { ...request.query, label: labelPairs(request.query.label), after_id };
    return liveReply(
      reply,
      streamsEnd,
      (signal) => processes.watch(query, { signal }),
      (): LiveForm<ChangeEvent[]> => eventForm(changeBytes, heartbeat_ms, null),
    );
  });
}

function eventForm<Batch>(encode: (batch: Batch) => Uint8Array, heartbeat_ms: number, gap: Gap | null): LiveForm<Batch> {
  return {
    headers: { 'content-type': SSE_TYPE, ...gapHeader(gap) },
    encode,
    complete: () => true,
    heartbeat: { ms: heartbeat_ms, text: SSE_HEARTBEAT },
  };
}

/** Its bytes are lent: an end before `closed` breaks it off, with what is still on its way. */
function framesForm(heartbeat_ms: number, gap: Gap | null): LiveForm<ProcessEvent[]> {
  let closed = false;
  return {
    headers: { 'content-type': EVENT_FRAMES_TYPE, ...gapHeader(gap) },
    encode(batch) {
      closed = batch.at(-1)?.event === 'closed';
      return frameBytes(batch);
    },
    complete: () => closed,
    heartbeat: { ms: heartbeat_ms, text: FRAME_HEARTBEAT },
  };
}

function gapHeader(gap: Gap | null): Record<string, string> {
  return gap ? { 'exec-gap': JSON.stringify(gap) } : {};
}

/** What a reconnecting browser saw last; an empty one says that it saw nothing. */
function lastEventId(header: string | string[] | undefined): number | undefined {
  if (Array.isArray(header)) {
    throw new GatewayError('invalid_cursor', 'Last-Event-ID is given several times: give it once.', { field: 'Last-Event-ID' });
  }
  return header === undefined || header === '' ? undefined : cursorValue('Last-Event-ID', header);
}
