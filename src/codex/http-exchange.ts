import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** Redirects that are followed. */
const MOST_REDIRECTS = 10;

/** One header; names may repeat. */
export interface Header {
  name: string;
  value: string;
}

/** One request to somewhere. */
export interface Exchange {
  method: string;
  url: URL;
  headers: Header[];
  body: Buffer | undefined;
  /** Whether to go where a redirect leads. */
  follow: boolean;
}

/** What came back. The body is unpacked, and then the headers that told of the packing are left out. */
export interface Response {
  status: number;
  headers: Header[];
  body: Readable;
}

/** Makes a request, and follows redirects (RFC 9110 §15.4). */
export async function exchange(asked: Exchange, signal: AbortSignal): Promise<Response> {
  let now = asked;
  for (let redirects = 0; ; redirects++) {
    const message = await send(now, signal);
    const next = now.follow ? redirected(now, message) : null;
    if (next === null) return unpacked(now.method, message);
    message.destroy(); // its body may never end
    if (redirects === MOST_REDIRECTS) throw new Error(`more than ${MOST_REDIRECTS} redirects`);
    now = next;
  }
}

function send({ method, url, headers, body }: Exchange, signal: AbortSignal): Promise<IncomingMessage> {
  const begin = url.protocol === 'https:' ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const request = begin(url, { method, signal, agent: false });
    request.on('error', reject).on('response', resolve);
    // An answer of another protocol, or to CONNECT, would leave its socket to us.
    for (const change of ['upgrade', 'connect'] as const) {
      request.on(change, (_response, socket) => {
        socket.destroy();
        reject(new Error('the server changed the protocol'));
      });
    }
    try {
      for (const [name, value] of valuesOf(headers)) request.setHeader(name, value.length === 1 ? (value[0] as string) : value);
      request.end(body);
    } catch (error) {
      request.destroy(); // it connects all the same
      reject(error);
    }
  });
}

function valuesOf(headers: Header[]): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const { name, value } of headers) values.set(name.toLowerCase(), [...(values.get(name.toLowerCase()) ?? []), value]);
  values.delete('content-length'); // it is that of the body
  values.delete('transfer-encoding');
  return values;
}

/** The request a redirect asks for, or null. Credentials do not go to another origin. */
function redirected(
  { method, url, headers, body, follow }: Exchange,
  { statusCode = 0, headers: { location } }: IncomingMessage,
): Exchange | null {
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined || !URL.canParse(location, url)) return null;
  const next = new URL(location, url);
  if (next.protocol !== 'http:' && next.protocol !== 'https:') return null;
  const asGet = method !== 'HEAD' && (statusCode === 303 || (statusCode < 303 && method === 'POST'));
  const dropped = new Set([...(next.origin === url.origin ? [] : SECRETS), ...(asGet ? ABOUT_BODY : [])]);
  const kept = headers.filter(({ name }) => !dropped.has(name.toLowerCase()) && name.toLowerCase() !== 'host');
  return { method: asGet ? 'GET' : method, url: next, headers: kept, body: asGet ? undefined : body, follow };
}

const SECRETS = ['authorization', 'cookie', 'proxy-authorization'];
const ABOUT_BODY = ['content-type', 'content-encoding', 'content-language', 'content-location'];

function unpacked(method: string, message: IncomingMessage): Response {
  const headers = headersOf(message);
  const status = message.statusCode ?? 0;
  const unpack = UNPACK[message.headers['content-encoding']?.toLowerCase() ?? ''];
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  if (unpack === undefined || !hasBody) return { status, headers, body: message };
  const body = pipeline(message, unpack(), () => {}); // its end is that of the body
  return { status, headers: headers.filter(({ name }) => name !== 'content-encoding' && name !== 'content-length'), body };
}

const UNPACK: Record<string, (() => Transform) | undefined> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function headersOf({ rawHeaders }: IncomingMessage): Header[] {
  const headers: Header[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    headers.push({ name: (rawHeaders[i] as string).toLowerCase(), value: rawHeaders[i + 1] as string });
  }
  return headers;
}
