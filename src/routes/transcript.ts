import { Type } from '@sinclair/typebox';
import type { FastifyReply } from 'fastify';
import { preferredType } from '../plugins/accept.js';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { Stream } from '../protocol/output.js';
import { Count, Strict } from '../protocol/schema.js';
import {
  ASCIICAST_TYPE,
  type TranscriptAbout,
  type TranscriptContent,
  TranscriptFormat,
  type TranscriptQuery,
} from '../protocol/transcript.js';
import { begun } from './begun.js';
import { type ByteRange, byteRanges } from './byte-ranges.js';
import { whileCallerStays } from './caller-gone.js';
import { attachment } from './file-headers.js';
import { sendContent } from './file-reply.js';
import { ProcessPath } from './parameters.js';
import { type ConditionHeaders, judge, rangeCounts } from './preconditions.js';

const TranscriptParameters = Strict({
  stream: Type.Optional(Stream),
  format: Type.Optional(TranscriptFormat),
  before_seq: Type.Optional(
    Count('Only what came before this event: Exec-Next-Seq of an earlier answer gives the same transcript again, or another part of it.', {
      minimum: 1,
    }),
  ),
});

const RAW_TYPES = ['application/octet-stream', 'text/plain'] as const;
type MediaType = (typeof RAW_TYPES)[number] | typeof ASCIICAST_TYPE;

/** Headers for which a transcript is looked at before it is read. */
const ASKING = ['range', 'if-match', 'if-none-match'] as const;

/** Times that it is looked at again because output was given up before it was read. */
const ATTEMPTS = 5;

/** Gaps that a header tells one by one: it must pass proxies, which take 4 KiB. */
const MAX_GAPS = 16;

/** One request for a transcript. */
interface Wanted {
  process_id: string;
  query: TranscriptQuery;
  type: MediaType;
  headers: ConditionHeaders & { accept?: string | undefined; range?: string | undefined };
  signal: AbortSignal | undefined;
}

/** `GET /processes/{process_id}/transcript` and `HEAD /processes/{process_id}/transcript`. */
export function transcriptRoutes(app: GatewayApp, processes: ExecProcess): void {
  const path = '/processes/:process_id/transcript';
  const schema = { params: ProcessPath, querystring: TranscriptParameters };

  app.get(path, { schema }, ({ params: { process_id }, query, headers }, reply) =>
    whileCallerStays(reply, async ({ signal }) => {
      const wanted = { process_id, ...formOf(query, headers), headers, signal };
      // Of a recording no part can be asked for, and it has no entity tag.
      const asks = wanted.type !== ASCIICAST_TYPE && ASKING.some((name) => headers[name] !== undefined);
      if (asks) return sendAsked(reply, processes, wanted);
      return send(reply, wanted, await processes.transcript(process_id, wanted.query, { signal }));
    }),
  );

  app.head(path, { schema }, ({ params: { process_id }, query, headers }, reply) =>
    whileCallerStays(reply, async ({ signal }) => {
      const wanted = { process_id, ...formOf(query, headers), headers, signal };
      const about = await lookAt(processes, wanted);
      reply.headers(headersOf(wanted, about));
      if (about.etag !== null && !isWanted(wanted, about)) return reply.code(304).send();
      if (about.size_bytes !== null) reply.header('content-length', about.size_bytes);
      return reply.send();
    }),
  );
}

/** What is sent, by `format` or else by `Accept`. */
function formOf(query: TranscriptQuery, { accept }: Wanted['headers']): Pick<Wanted, 'query' | 'type'> {
  if (query.format === 'asciicast') return { query, type: ASCIICAST_TYPE };
  if (query.format === 'raw') return { query, type: preferredType(accept, RAW_TYPES) ?? RAW_TYPES[0] };
  const offers = [...RAW_TYPES, ASCIICAST_TYPE] as const;
  const type = preferredType(accept, offers);
  if (type === null) throw new GatewayError('not_acceptable', `A transcript is given as ${offers.join(', ')}.`, { allowed: [...offers] });
  return { query: { ...query, format: type === ASCIICAST_TYPE ? 'asciicast' : 'raw' }, type };
}

/** What was judged is what is read: the same events, as long as none of them is given up meanwhile. */
async function sendAsked(reply: FastifyReply, processes: ExecProcess, wanted: Wanted): Promise<FastifyReply> {
  const { process_id, query, signal } = wanted;
  for (let left = ATTEMPTS; ; left--) {
    const about = await lookAt(processes, wanted);
    if (!isWanted(wanted, about)) return reply.code(304).headers(headersOf(wanted, about)).send();
    const part = wantedPart(wanted, about, reply);
    const range = part === null ? {} : { offset: part.first, length: part.last - part.first + 1 };
    const same = { before_seq: about.next_seq, if_match: about.etag ?? undefined };
    try {
      return await send(reply, wanted, await processes.transcript(process_id, { ...query, ...same, ...range }, { signal }), part);
    } catch (error) {
      if (!(error instanceof GatewayError && error.code === 'precondition_failed')) throw error;
      if (left === 1) throw tooFast(process_id);
    }
  }
}

async function send(reply: FastifyReply, wanted: Wanted, content: TranscriptContent, part: ByteRange | null = null): Promise<FastifyReply> {
  const { about, length, body } = content;
  const headers = headersOf(wanted, about);
  if (length !== null) headers['content-length'] = String(length);
  if (part !== null) headers['content-range'] = `bytes ${part.first}-${part.last}/${about.size_bytes}`;
  try {
    return await sendContent(reply, { status: part === null ? 200 : 206, headers, body: await begun(body) }, wanted.signal);
  } finally {
    await content.close();
  }
}

async function lookAt(processes: ExecProcess, { process_id, query, signal }: Wanted): Promise<TranscriptAbout> {
  const content = await processes.transcript(process_id, { ...query, length: 0 }, { signal });
  await content.close();
  return content.about;
}

/**
 * Whether the caller needs the bytes; false when it has these very bytes already.
 * @throws {GatewayError} `precondition_failed`, `invalid_request`
 */
function isWanted({ process_id, headers }: Wanted, { etag }: TranscriptAbout): boolean {
  const { 'if-modified-since': _, 'if-unmodified-since': __, ...conditions } = headers; // no transcript tells when it changed
  const verdict = judge(conditions, { etag: etag ?? '', modified_ms: Number.NaN });
  if (verdict !== 'failed') return verdict === 'send';
  const detail = 'The transcript is not what If-Match asks for: look at it again.';
  throw new GatewayError('precondition_failed', detail, { process_id, ...(etag === null ? {} : { etag }) });
}

/** The part to send, or null for all of it: also where several are asked for. */
function wantedPart({ process_id, headers }: Wanted, { etag, size_bytes }: TranscriptAbout, reply: FastifyReply): ByteRange | null {
  if (headers.range === undefined || size_bytes === null || !rangeCounts(headers, etag ?? '')) return null;
  const parts = byteRanges(headers.range, size_bytes);
  if (parts === null || parts.length > 1) return null;
  if (parts[0]) return parts[0];
  reply.header('content-range', `bytes */${size_bytes}`);
  const detail = `The transcript has ${size_bytes} bytes: no part of it is in the range ${JSON.stringify(headers.range.slice(0, 60))}.`;
  throw new GatewayError('range_not_satisfiable', detail, { process_id, size_bytes });
}

function headersOf({ process_id, type }: Wanted, { etag, next_seq, closed, gaps }: TranscriptAbout): Record<string, string> {
  return {
    'content-type': type === 'text/plain' ? 'text/plain; charset=utf-8' : type,
    'content-disposition': attachment(`${process_id}.${type === ASCIICAST_TYPE ? 'cast' : 'log'}`),
    'accept-ranges': etag === null ? 'none' : 'bytes',
    ...(etag === null ? {} : { etag }),
    'exec-next-seq': String(next_seq),
    'exec-closed': String(closed),
    ...(gaps.length === 0 ? {} : { 'exec-gap': gapList(gaps) }),
    // It may be kept and must be asked about again; nothing on the way may change bytes that ranges count.
    'cache-control': 'private, no-cache, no-transform',
  };
}

/** The gaps one after the other, as several lines of one header are put together; of very many the last stands for all that follow. */
function gapList(gaps: TranscriptAbout['gaps']): string {
  const told = gaps.slice(0, MAX_GAPS);
  const [first, last] = [told.at(-1), gaps.at(-1)];
  if (first && last && gaps.length > MAX_GAPS) told[MAX_GAPS - 1] = { ...last, from_seq: first.from_seq, bytes: null };
  return told.map((gap) => JSON.stringify(gap)).join(', ');
}

function tooFast(process_id: string): GatewayError {
  const detail = 'Output is given up faster than a part of it can be sent: ask for all of it, without Range and If-Match.';
  return new GatewayError('output_evicted', detail, { process_id });
}
