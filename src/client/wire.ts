import { GatewayError, PROBLEM_TYPE } from '../protocol/error.js';
import { EventConnection, type EventDecoder } from './event-connection.js';
import { onAbort } from './on-abort.js';

/** Where the gateway is and how to speak to it. */
export interface WireOptions {
  /** The gateway's address, with a path when a proxy puts it below one. */
  url: string;
  /** What it is called in messages. Default: its address. */
  name?: string | undefined;
  /** The bearer token. */
  token?: string | undefined;
  /** What to call instead of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Headers of every request, such as those a proxy asks for. */
  headers?: Record<string, string> | undefined;
}

type QueryValue = string | number | boolean | undefined;

export interface WireRequest {
  method?: string;
  /** Below the gateway's address, with a leading slash. */
  path: string;
  query?: Record<string, QueryValue | string[]>;
  headers?: Record<string, string>;
  /** Bytes, blobs and streams go as they are, everything else as JSON. */
  body?: Uint8Array | Blob | ReadableStream<Uint8Array> | object;
  last_event_id?: number | undefined;
  /** A field that the answer of a gateway has: another server may answer anything. */
  answer?: string;
  signal?: AbortSignal | undefined;
}

/** A way to tell events: its media type, and what takes a stream of it apart. */
export interface EventForm<Event> {
  type: string;
  decoder: () => EventDecoder<Event>;
}

/** An answer whose body is read as it comes. */
export interface WireStream {
  status: number;
  headers: Headers;
  /** The bytes of one network read; null at the end. Rejects with a `GatewayError`, or with the signal's reason. */
  read(): Promise<Uint8Array | null>;
  /** Breaks the connection, unless all was read. */
  close(): void;
}

export interface WireReply<T> {
  status: number;
  value: T;
}

/** One gateway behind `fetch`: makes requests, revives errors, gives up when told to. */
export class Wire {
  readonly #base: string;
  readonly #name: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof fetch;

  /** @throws {GatewayError} `invalid_argument` for an address that cannot be called */
  constructor({ url, name, token, fetch: own, headers }: WireOptions) {
    this.#base = baseOf(url);
    this.#name = name ?? this.#base;
    this.#headers = headersOf(token, headers);
    this.#fetch = own ?? ((input, init) => fetch(input, init));
  }

  /** Where something is, and the headers to ask it with, for what is not asked by `fetch`. */
  address(path: string, query: NonNullable<WireRequest['query']>): { url: string; headers: Record<string, string> } {
    return { url: this.#base + path + queryText(query), headers: this.#headers };
  }

  /** A call that is answered with JSON. */
  json<T>(request: WireRequest): Promise<WireReply<T>> {
    return this.#call(request, async (response) => {
      const value: unknown = await response.json().catch((error) => {
        throw error instanceof SyntaxError ? this.#notOurs(response) : error;
      });
      const ours = typeof value === 'object' && value !== null && (request.answer === undefined || request.answer in value);
      if (!ours) throw this.#notOurs(response);
      return { status: response.status, value: value as T };
    });
  }

  /** A call that is answered with nothing. */
  empty(request: WireRequest): Promise<void> {
    return this.#call(request, async (response) => {
      if (response.status !== 204) throw this.#notOurs(response);
    });
  }

  /** A call that is answered with bytes. The signal ends it also later on. */
  async stream(request: WireRequest): Promise<WireStream> {
    request.signal?.throwIfAborted();
    const { response, drop } = await this.#open(request, '*/*');
    const reader = response.body?.getReader();
    const read = async () => {
      try {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) drop();
        return done ? null : value;
      } catch (error) {
        drop();
        throw this.#revive(error, request.signal);
      }
    };
    return { status: response.status, headers: response.headers, read, close: drop };
  }

  /** Events in one of these forms, the first of them liked best; null when the gateway has no more to tell. The signal ends it also later on. */
  async events<Event>(request: WireRequest, forms: EventForm<Event>[]): Promise<EventConnection<Event> | null> {
    const { response, drop } = await this.#open(request, forms.map(({ type }, i) => (i === 0 ? type : `${type};q=0.9`)).join(', '));
    if (response.status === 204) {
      drop();
      return null;
    }
    const form = forms.find(({ type }) => response.headers.get('content-type')?.startsWith(type));
    if (response.body && form) return new EventConnection(response.body, response.headers, form.decoder(), drop);
    drop();
    throw this.#notOurs(response);
  }

  /** An answer that lives on: `drop` breaks its connection and forgets the signal. */
  async #open(request: WireRequest, accept: string): Promise<{ response: Response; drop: () => void }> {
    const controller = new AbortController();
    const forget = onAbort(request.signal, () => controller.abort());
    const drop = () => {
      forget();
      controller.abort();
    };
    try {
      return { response: await this.#send(request, accept, controller.signal), drop };
    } catch (error) {
      drop();
      throw this.#revive(error, request.signal);
    }
  }

  /** What went wrong, in the one error type; the signal's reason when the caller gave up. */
  #revive(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof GatewayError) return error;
    const { message, cause } = error as Error & { cause?: Error & { code?: string } };
    const why = oneLine(cause?.message || cause?.code || message);
    return new GatewayError('upstream_unreachable', `The gateway at ${this.#name} cannot be reached: ${why}.`, {}, { cause: error });
  }

  async #call<T>(request: WireRequest, take: (response: Response) => Promise<T>): Promise<T> {
    request.signal?.throwIfAborted();
    const controller = new AbortController(); // of its own for each call: fetch leaves listeners on the signal it is given
    const forget = onAbort(request.signal, () => controller.abort());
    try {
      return await take(await this.#send(request, 'application/json', controller.signal));
    } catch (error) {
      controller.abort(); // an answer nobody reads holds its connection
      throw this.#revive(error, request.signal);
    } finally {
      forget();
    }
  }

  async #send(request: WireRequest, accept: string, signal: AbortSignal): Promise<Response> {
    const { method = 'GET', path, query = {}, body, last_event_id } = request;
    const headers: Record<string, string> = { ...this.#headers, ...request.headers, accept };
    if (body !== undefined) headers['content-type'] ??= isRaw(body) ? 'application/octet-stream' : 'application/json';
    if (last_event_id !== undefined) headers['last-event-id'] = String(last_event_id);
    // A redirect would turn a POST into a GET: it is told, not followed.
    const init: RequestInit = { method, headers, signal, redirect: 'manual' };
    if (body !== undefined) init.body = isRaw(body) ? (body as BodyInit) : JSON.stringify(body);
    if (body instanceof ReadableStream) Object.assign(init, streamInit());
    const response = await this.#fetch(this.#base + path + queryText(query), init);
    if (!response.ok) throw await this.#failure(response);
    return response;
  }

  async #failure(response: Response): Promise<GatewayError> {
    if (!response.headers.get('content-type')?.startsWith(PROBLEM_TYPE)) return this.#notOurs(response);
    return GatewayError.fromProblem(await response.json()) ?? this.#notOurs(response);
  }

  #notOurs({ status }: Response): GatewayError {
    const told = status === 0 || (status >= 300 && status < 400) ? 'a redirect: give the address it leads to' : `status ${status}`;
    return new GatewayError('upstream_unreachable', `Something other than a gateway answered at ${this.#name} with ${told}.`);
  }
}

/**
 * How a stream is sent. Node keeps a copy of every body that it may have to send again after a redirect, which would be the
 * whole stream in memory; it does not where redirects are errors and there is no window. Other runtimes may not know that.
 */
let stream_init: RequestInit | undefined;
// Asked when it is needed: Node loads its own fetch to answer.
const streamInit = () =>
  (stream_init ??= { duplex: 'half', ...(redirectsMayFail() ? { redirect: 'error', window: null } : {}) } as RequestInit);

function redirectsMayFail(): boolean {
  try {
    return new Request('http://localhost', { redirect: 'error', window: null }).redirect === 'error';
  } catch {
    return false;
  }
}

function isRaw(body: object): boolean {
  return body instanceof Uint8Array || body instanceof Blob || body instanceof ReadableStream;
}

/** OpenSSL tells of itself in numbers and file names, and ends with a line break. */
function oneLine(why: string): string {
  return why
    .replace(/^\w+:error:\w+:([^:]*):[^:]*:([^:]*):[\s\S]*$/, '$1: $2')
    .replace(/\s+/g, ' ')
    .trim();
}

function baseOf(url: string): string {
  try {
    const { protocol, host, pathname, username, password } = new URL(url);
    if (/^https?:$/.test(protocol) && username === '' && password === '') return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
  } catch {
    // Told below, with the rest of what cannot be called.
  }
  const detail = /^unix:/i.test(url)
    ? 'url names a unix socket, which only the command line takes: give http://localhost, and a fetch that calls the socket.'
    : 'url is not an address a gateway can have: give http://HOST:PORT or https://HOST/PATH, and the token apart from it.';
  throw new GatewayError('invalid_argument', detail, { field: 'url' });
}

/** The engine's own messages would tell the value, which is a secret. */
function headersOf(token: string | undefined, headers: Record<string, string> = {}): Record<string, string> {
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    const detail = 'token holds characters that no header can carry: give it as the gateway printed it.';
    throw new GatewayError('invalid_argument', detail, { field: 'token' });
  }
  try {
    const all = new Headers(headers);
    if (token !== undefined) all.set('authorization', `Bearer ${token}`);
    return Object.fromEntries(all);
  } catch {
    throw new GatewayError('invalid_argument', 'headers hold a name or a value that no header can have.', { field: 'headers' });
  }
}

function queryText(query: NonNullable<WireRequest['query']>): string {
  const search = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    for (const value of Array.isArray(values) ? values : [values]) if (value !== undefined) search.append(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
