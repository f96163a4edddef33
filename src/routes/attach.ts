import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import { shuttingDown } from '../plugins/shutdown-check.js';
import { prepareUpgrade, subprotocols, upgradeRequired } from '../plugins/websocket.js';
import { ATTACH_PROTOCOL } from '../protocol/attach-frame.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { MAX_ATTACH_MESSAGE_BYTES } from '../protocol/limits.js';
import { Stream } from '../protocol/output.js';
import { Strict } from '../protocol/schema.js';
import { attachBeginning } from './attach-beginning.js';
import { type Attachment, AttachViewer } from './attach-viewer.js';
import { AfterSeq, ProcessPath } from './parameters.js';

const AttachParameters = Strict({
  after_seq: AfterSeq,
  stream: Type.Optional(Stream),
  read_only: Type.Optional(Type.Boolean({ description: 'Look on: input and control are refused.', default: false })),
  screen: Type.Optional(
    Type.Boolean({ description: 'Begin with what the terminal shows, in place of all that was printed.', default: false }),
  ),
});
type AttachParameters = Static<typeof AttachParameters>;

/** `GET /processes/{process_id}/attach`: a WebSocket. */
export function attachRoute(parent: GatewayApp, processes: ExecProcess, probes: Probes, heartbeat_ms: number): void {
  const attachments = new WeakMap<FastifyRequest, Attachment>();
  const { stopping, streamsEnd } = probes;
  parent.register((app: GatewayApp, _options, done) => {
    app.route<{ Params: { process_id: string }; Querystring: AttachParameters }>({
      method: 'GET',
      url: '/processes/:process_id/attach',
      config: { ticket: 'always' },
      schema: { params: ProcessPath, querystring: AttachParameters },
      // All that can be refused is refused before the upgrade, as any other request.
      async preHandler(request, reply) {
        const attachment = await attach(processes, request, reply, streamsEnd);
        attachments.set(request, attachment);
      },
      handler(_request, reply) {
        throw upgradeRequired(reply, 'This address takes a WebSocket: connect to it with one, or follow the process at …/events.');
      },
      wsHandler(socket, request) {
        const attachment = attachments.get(request) as Attachment;
        return new AttachViewer(socket, request.raw.socket, attachment, { processes, heartbeat_ms, stopping, streamsEnd }).run();
      },
    });
    done();
  });
}

async function attach(
  processes: ExecProcess,
  request: FastifyRequest<{ Params: { process_id: string }; Querystring: AttachParameters }>,
  reply: FastifyReply,
  streamsEnd: AbortSignal,
): Promise<Attachment> {
  const numbered = speaksNumbered(request.headers['sec-websocket-protocol']);
  const read_only = request.query.read_only === true || request.access === 'read';
  const { process_id } = request.params;
  const life = new AbortController();
  const end = () => life.abort(shuttingDown());
  streamsEnd.addEventListener('abort', end);
  reply.raw.once('close', () => {
    streamsEnd.removeEventListener('abort', end);
    life.abort();
  });
  const { stream } = request.query;
  const { after_seq, paint, exited } = await attachBeginning(processes, process_id, request.query, life.signal);
  const subscription = await processes.follow(process_id, { after_seq, stream }, { signal: life.signal, lend: true });
  const process = await processes.get(process_id, {}, { signal: life.signal });
  const attachment = { process, subscription, after_seq, paint, exited, read_only, numbered };
  if (!request.ws) return attachment;
  const { gap } = subscription;
  prepareUpgrade(request, reply, {
    protocol: numbered ? ATTACH_PROTOCOL : null,
    headers: { 'X-Request-Id': request.id, ...(gap ? { 'Exec-Gap': JSON.stringify(gap) } : {}) },
    max_message_bytes: MAX_ATTACH_MESSAGE_BYTES,
  });
  return attachment;
}

/** A caller that only speaks what is not spoken here would not understand what it is sent (RFC 6455 §4.2.2). */
function speaksNumbered(header: string | undefined): boolean {
  if (header === undefined) return false;
  if (subprotocols(header)?.includes(ATTACH_PROTOCOL)) return true;
  const detail = `Of the subprotocols offered none is spoken here: offer ${ATTACH_PROTOCOL}, or none to exchange bytes alone.`;
  throw new GatewayError('invalid_request', detail, { field: 'Sec-WebSocket-Protocol', allowed: [ATTACH_PROTOCOL] });
}
