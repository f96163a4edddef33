import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Readable } from 'node:stream';
import { MAX_TIMEOUT_MS } from '../protocol/index.js';
import { collect } from './content.js';
import type { Call, Context } from './context.js';
import { type Exchange, exchange, type Header } from './http-exchange.js';
import { Params } from './params.js';
import { invalidParams, invalidRequest, RPC, RpcError } from './rpc-error.js';

/** Requests of one connection under way. */
const MOST_FETCHES = 64;

/** Largest body that is answered whole, in bytes. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Largest piece of a streamed body, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** Sent from here a request would leave from another machine than that of the processes, and reach another network. */
const ELSEWHERE = 'http/request is not offered by a gateway in front of another: connect to that one, on the machine where processes run';

/** What `http/request` asks for. */
interface HttpParams extends Exchange {
  requestId: string;
  timeoutMs: number | undefined;
  stream: boolean;
}

/** `http/request`: a request from this machine, answered whole or streamed. */
export function requestHttp(params: Params): Call {
  const asked = httpParams(params);
  return async (context) => {
    if (context.machine.elsewhere) throw new RpcError(RPC.METHOD_NOT_FOUND, ELSEWHERE);
    if (context.fetches >= MOST_FETCHES) throw invalidRequest(`too many requests under way: limit is ${MOST_FETCHES}`);
    context.fetches++;
    let streams = false;
    const over = timeLimit(asked.timeoutMs, context.gone);
    try {
      const response = await exchange(asked, over.signal);
      const head = { status: response.status, headers: response.headers };
      if (!asked.stream) return { ...head, bodyBase64: (await collect(response.body, MAX_BODY_BYTES, tooLarge)).toString('base64') };
      streams = true;
      // The answer goes first.
      setImmediate(() => {
        void streamBody(context, asked.requestId, response.body).finally(() => {
          over.release();
          context.fetches--;
        });
      });
      return { ...head, bodyBase64: '' };
    } catch (error) {
      if (error instanceof RpcError) throw error;
      const why = over.signal.aborted ? 'it took too long' : (error as Error).message;
      throw new RpcError(RPC.INTERNAL, `http/request failed: ${asked.url.origin}: ${why}`);
    } finally {
      if (!streams) {
        over.release();
        context.fetches--;
      }
    }
  };
}

function httpParams(params: Params): HttpParams {
  const method = params.text('method');
  const url = httpUrl(params.text('url'));
  const headers = params.list('headers', headerOf);
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method)) throw invalidParams('http/request method is invalid');
  return {
    requestId: params.text('requestId'),
    method,
    url,
    headers,
    body: params.optionalBytes('bodyBase64'),
    timeoutMs: params.optionalCount('timeoutMs'),
    follow: params.word('redirectPolicy', ['follow', 'stop'], true) === 'follow',
    stream: params.optionalFlag('streamResponse', false),
  };
}

function httpUrl(text: string): URL {
  if (!URL.canParse(text)) throw invalidParams('http/request url is invalid');
  const url = new URL(text);
  if (url.port === '0') throw invalidParams('http/request url names port 0, which is none');
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw invalidParams(`http/request only supports http and https URLs, got ${url.protocol.slice(0, -1)}`);
}

function headerOf(value: unknown): Header {
  const params = new Params(value);
  const header = { name: params.text('name'), value: params.text('value') };
  try {
    validateHeaderName(header.name);
    validateHeaderValue(header.name, header.value);
  } catch {
    throw invalidParams(`http/request header \`${header.name.slice(0, 100)}\` is invalid`);
  }
  return header;
}

/** A signal that is aborted when the time is over or the connection is gone. */
function timeLimit(ms: number | undefined, gone: AbortSignal): { signal: AbortSignal; release(): void } {
  const over = new AbortController();
  const abort = () => over.abort();
  const timer = ms === undefined ? undefined : setTimeout(abort, Math.min(ms, MAX_TIMEOUT_MS));
  if (gone.aborted) abort();
  gone.addEventListener('abort', abort);
  const release = () => {
    clearTimeout(timer);
    gone.removeEventListener('abort', abort);
  };
  return { signal: over.signal, release };
}

function tooLarge(): RpcError {
  return new RpcError(RPC.INTERNAL, `http/request failed: the body is larger than ${MAX_BODY_BYTES} bytes: ask with streamResponse`);
}

/** Tells a body piece by piece, at the pace of the connection; the last message says that it is done, and what went wrong. */
async function streamBody({ outbox, gone }: Context, requestId: string, body: Readable): Promise<void> {
  let seq = 0;
  const tell = (bytes: Buffer, done: boolean, error: string | null) =>
    outbox.send({
      method: 'http/request/bodyDelta',
      params: { requestId, seq: ++seq, deltaBase64: bytes.toString('base64'), done, error },
    });
  try {
    for await (const block of body as AsyncIterable<Buffer>) {
      for (let at = 0; at < block.length; at += PIECE_BYTES) {
        await outbox.room();
        if (gone.aborted) return;
        tell(block.subarray(at, at + PIECE_BYTES), false, null);
      }
    }
    tell(Buffer.alloc(0), true, null);
  } catch (error) {
    if (!gone.aborted) tell(Buffer.alloc(0), true, `the body broke off: ${(error as Error).message}`);
  } finally {
    body.destroy();
  }
}
