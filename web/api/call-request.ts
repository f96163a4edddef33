import type { Call, Media, Parameter } from './spec.js';

/** What somebody filled in. */
export interface Filled {
  /** By place and name of the parameter; what is left out or empty is not sent. A list has a value in each line. */
  values: Record<string, string>;
  /** The media type that is asked for. */
  accept: string | null;
  /** The media type of the body. */
  body_type: string | null;
  body: string;
  /** A file in place of the text. */
  file: File | null;
}

/** A request that can be sent. */
export interface CallRequest {
  method: string;
  /** From the root of the gateway, with the query. */
  path: string;
  headers: [name: string, value: string][];
  body: string | File | null;
  /** Whether it asks for no sign-in. */
  open: boolean;
  /** Whether it becomes a WebSocket. */
  socket: boolean;
  /** Whether what comes has no end of its own. */
  live: boolean;
}

/** Headers that a page may not set. */
const BROWSERS_OWN = new Set(['accept-encoding', 'sec-websocket-protocol']);

/** The media types of streams. */
const LIVE = /^(text\/event-stream|application\/vnd\.exec-gateway\.events)\b/;

/** How a parameter is told from others. */
export const keyOf = ({ in: place, name }: Parameter): string => `${place}:${name}`;

/** Whether the browser keeps a header for itself. */
export const isBrowsersOwn = ({ in: place, name }: Parameter): boolean => place === 'header' && BROWSERS_OWN.has(name.toLowerCase());

/** Whether the call is answered by a WebSocket. */
const isSocket = ({ replies }: Call): boolean => replies.some(({ status }) => status === 101);

/** The media types that one may ask for; none when there is no choice. */
export function acceptable(call: Call): string[] {
  if (isSocket(call)) return [];
  const types = call.replies.filter(({ status }) => status < 300).flatMap(({ bodies }) => bodies.map(({ type }) => type));
  return [...new Set(types)].filter((type) => type !== '*/*');
}

/** What a call begins with: the example of its body, if it needs one. */
export function emptyFilled(call: Call): Filled {
  const [body] = call.bodies;
  return {
    values: Object.fromEntries(
      call.parameters
        .filter(({ required, example }) => required && example !== undefined)
        .map((one) => [keyOf(one), one.example as string]),
    ),
    accept: acceptable(call)[0] ?? null,
    body_type: body?.type ?? null,
    body: body === undefined ? '' : exampleText(body),
    file: null,
  };
}

/** An example as one would type it. */
export const exampleText = ({ example }: Pick<Media, 'example'>): string =>
  typeof example === 'string' ? example : example === undefined ? '' : JSON.stringify(example, null, 2);

/** Puts a request together. */
export function callRequest(call: Call, filled: Filled): CallRequest {
  const { method, open, parameters } = call;
  const given = (place: Parameter['in']) =>
    parameters.filter((one) => one.in === place).map((one) => ({ parameter: one, value: filled.values[keyOf(one)] ?? '' }));
  const path = given('path').reduce(
    (text, { parameter, value }) => text.replace(`{${parameter.name}}`, encodeURIComponent(value)),
    call.path,
  );
  const query = new URLSearchParams();
  for (const { parameter, value } of given('query')) {
    const values = parameter.schema.type === 'array' ? value.split('\n') : [value];
    for (const one of values) if (one !== '') query.append(parameter.name, one);
  }
  const headers = given('header').flatMap<[string, string]>(({ parameter: { name }, value }) => (value === '' ? [] : [[name, value]]));
  const accept = filled.accept;
  if (accept !== null && (acceptable(call).length > 1 || accept !== 'application/json')) headers.push(['Accept', accept]);
  const body = bodyOf(call, filled);
  if (body !== null && filled.body_type !== null && filled.body_type !== '*/*') headers.push(['Content-Type', filled.body_type]);
  return {
    method,
    path: path + (query.size === 0 ? '' : `?${query}`),
    headers,
    body,
    open,
    socket: isSocket(call),
    live: LIVE.test(accept ?? '') || query.get('follow') === 'true',
  };
}

/** An empty text is no body, but where one is needed. */
function bodyOf({ bodies, body_required }: Call, { body, file }: Filled): string | File | null {
  if (bodies.length === 0) return null;
  if (file !== null) return file;
  return body === '' && !body_required ? null : body;
}
