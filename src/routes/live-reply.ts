import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { breakOff } from '../plugins/break-off.js';
import { shuttingDown } from '../plugins/shutdown-check.js';
import { encodeOnce } from './shared-bytes.js';

/** No proxy on the way may hold back, repack or keep a stream. */
const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };

/** Bytes that are good until they are on their way. */
export interface LentBytes {
  lent: readonly Uint8Array[];
}

/** How the batches of one subscription become a reply. */
export interface LiveForm<Batch> {
  headers: Record<string, string>;
  /** The bytes of one batch; null breaks the transfer off. */
  encode(batch: Batch): Uint8Array | LentBytes | null;
  /** Whether an end is told as the end: false breaks the transfer off instead. */
  complete(): boolean;
  /** Text that is sent after every so many milliseconds of silence. */
  heartbeat?: { ms: number; text: string };
}

/**
 * Streams a subscription to its caller at the caller's pace: one batch is on its way at a time, and nothing queues.
 * It ends with the subscription, when the caller leaves, or when `end` is aborted.
 * @param subscribe may still fail, with an ordinary error reply
 * @param form null answers 204: there is nothing to come
 */
export async function liveReply<Batch, Source extends AsyncIterable<Batch>>(
  reply: FastifyReply,
  end: AbortSignal,
  subscribe: (signal: AbortSignal) => Promise<Source>,
  form: (source: Source) => LiveForm<Batch> | null,
): Promise<FastifyReply> {
  const life = new AbortController();
  const stop = () => life.abort();
  const stopped = () => life.abort(shuttingDown());
  reply.raw.once('close', stop);
  end.addEventListener('abort', stopped);
  try {
    const source = await subscribe(life.signal);
    const shape = form(source);
    if (shape === null) return reply.code(204).send();
    open(reply, shape.headers);
    await pump(reply, source, shape, life.signal);
  } finally {
    reply.raw.off('close', stop);
    end.removeEventListener('abort', stopped);
  }
  return reply;
}

/** Takes the reply over with the headers that hooks have set, CORS among them. */
function open(reply: FastifyReply, headers: Record<string, string>): void {
  reply.hijack();
  reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...STREAM_HEADERS, ...headers });
  reply.raw.flushHeaders();
}

async function pump<Batch>(reply: FastifyReply, source: AsyncIterable<Batch>, shape: LiveForm<Batch>, signal: AbortSignal): Promise<void> {
  const response = reply.raw;
  const beat = heartbeat(response, shape);
  try {
    for await (const batch of source) {
      const bytes = shape.encode(batch);
      if (bytes === null) return breakOff(response);
      if (!(bytes instanceof Uint8Array)) await lend(response, bytes.lent, signal);
      else if (bytes.length === 0) continue;
      else {
        const full = write(response, bytes);
        if (full) await drained(full, signal);
      }
      beat?.refresh();
      if (signal.aborted) break;
    }
    if (shape.complete()) response.end();
    else breakOff(response);
  } catch (error) {
    reply.log.debug({ req_id: reply.request.id, err: error }, 'stream broken off');
    response.destroy();
  } finally {
    clearInterval(beat);
  }
}

function heartbeat<Batch>(response: ServerResponse, { heartbeat: beat }: LiveForm<Batch>): NodeJS.Timeout | undefined {
  if (beat === undefined) return undefined;
  return setInterval(() => {
    if (!response.writableNeedDrain && !response.socket?.writableNeedDrain) response.write(beat.text);
  }, beat.ms);
}

/** Bytes up to this size leave as a chunk that is made once for all readers; making one of more costs a single reader more than it saves. */
const CHUNKED_BYTES = 1024;

const CRLF = Buffer.from('\r\n');

/** One chunk of the chunked coding (RFC 9112 §7.1). */
const chunkOf = encodeOnce((bytes: Uint8Array) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]));

/**
 * Writes as `response.write` does, which makes a chunk anew, of three parts, for every reader.
 * @returns whose 'drain' is to be waited for, if any
 */
function write(response: ServerResponse, bytes: Uint8Array): Writable | null {
  const { socket } = response;
  // A corked response may hold bytes that go first.
  const plain = socket === null || !response.chunkedEncoding || response.writableCorked > 0 || bytes.length > CHUNKED_BYTES;
  if (plain) return response.write(bytes) ? null : response;
  return socket.write(chunkOf(bytes)) ? null : socket;
}

/** Resolves when the socket takes more, or when the stream is over. */
function drained(writable: Writable, signal: AbortSignal): Promise<void> {
  return settled(signal, (done) => writable.once('drain', done));
}

/** Resolves when the system has all parts, or when the stream is over. What is written in one turn leaves in one call. */
function lend(response: ServerResponse, parts: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
  return settled(signal, (done) => {
    const last = parts.length - 1;
    parts.forEach((part, i) => {
      response.write(part, i === last ? done : undefined);
    });
  });
}

function settled(signal: AbortSignal, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    begin(done);
  });
}
