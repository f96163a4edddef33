import { Type } from '@sinclair/typebox';
import type { FastifyReply } from 'fastify';
import { preferredType } from '../plugins/accept.js';
import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { DEFAULT_READ_BYTES, MAX_READ_BYTES } from '../protocol/limits.js';
import { Encoding, type ReadOutput, Stream } from '../protocol/output.js';
import { Strict } from '../protocol/schema.js';
import { longPoll } from './long-poll.js';
import { rawParts, readResultJson } from './output-json.js';
import { AfterSeq, checkHold, clampWait, HoldMs, MaxBytes, ProcessPath, WaitMs } from './parameters.js';
import { followRaw } from './raw-follow.js';
import { ReplyBudget } from './reply-budget.js';
import { JSON_TYPE, sendParts } from './send-parts.js';

const OutputParameters = Strict({
  after_seq: AfterSeq,
  wait_ms: WaitMs('news'),
  max_bytes: MaxBytes,
  stream: Type.Optional(Stream),
  encoding: Type.Optional(Encoding),
  hold_ms: HoldMs,
  follow: Type.Optional(Type.Boolean({ description: 'Stream the raw bytes until the output is closed.', default: false })),
});

const RAW_TYPES = ['application/octet-stream', 'text/plain'] as const;

/** `GET /processes/{process_id}/output`. */
export function outputRoute(app: GatewayApp, processes: ExecProcess, probes: Probes): void {
  const budget = new ReplyBudget();
  app.get(
    '/processes/:process_id/output',
    { config: { ticket: 'when_following' }, schema: { params: ProcessPath, querystring: OutputParameters } },
    (request, reply) => {
      const { process_id } = request.params;
      const { query } = request;
      const { accept } = request.headers;
      if (query.follow) {
        checkHold(request.access, query.hold_ms);
        const type = preferredType(accept, RAW_TYPES);
        if (type === null) throw notRaw();
        const { follow: _, ...wanted } = query;
        return followRaw(reply, contentType(type), probes.streamsEnd, (signal) =>
          processes.follow(process_id, wanted, { signal, lend: true }),
        );
      }
      const type = preferredType(accept, ['application/json', ...RAW_TYPES]) ?? 'application/json';
      const max_bytes = budget.room(Math.min(query.max_bytes ?? DEFAULT_READ_BYTES, MAX_READ_BYTES));
      const { after_seq, stream, encoding = 'base64' } = query;
      return longPoll(reply, probes.stopping, clampWait(query.wait_ms ?? 0), (wait_ms, options) =>
        processes.read(process_id, { after_seq, max_bytes, stream, wait_ms }, options),
      ).then((output) => {
        budget.hold(reply.raw, sizeOf(output));
        if (type !== 'application/json') return sendRaw(reply, contentType(type), output);
        return sendParts(reply, 200, JSON_TYPE, readResultJson(output, encoding));
      });
    },
  );
}

function sizeOf({ chunks }: ReadOutput): number {
  return chunks.reduce((sum, { chunk }) => sum + chunk.length, 0);
}

function sendRaw(reply: FastifyReply, type: string, output: ReadOutput): Promise<FastifyReply> {
  reply.headers({
    'content-length': String(sizeOf(output)),
    'exec-next-seq': String(output.next_seq),
    'exec-exited': String(output.exited),
    'exec-closed': String(output.closed),
  });
  if (output.exit_code !== null) reply.header('exec-exit-code', String(output.exit_code));
  if (output.gap !== null) reply.header('exec-gap', JSON.stringify(output.gap));
  return sendParts(reply, 200, type, rawParts(output));
}

function contentType(type: (typeof RAW_TYPES)[number]): string {
  return type === 'text/plain' ? 'text/plain; charset=utf-8' : type;
}

function notRaw(): GatewayError {
  const detail = 'follow=true gives raw bytes only: accept application/octet-stream or text/plain, or follow JSON events at …/events.';
  return new GatewayError('not_acceptable', detail, { field: 'Accept', allowed: [...RAW_TYPES] });
}
