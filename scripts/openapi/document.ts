import { ERRORS, type ErrorCode, PROBLEM_TYPE } from '../../src/protocol/error.js';
import { HEADERS, PARAMETERS, SCHEMAS } from './components.js';
import { ERROR_CODES, problemExample } from './examples.js';
import type { Operation, Reply } from './operation.js';
import { OPERATIONS } from './operations.js';

/** A route as the server knows it. */
export interface Route {
  method: string;
  /** With `{name}` for a parameter. */
  path: string;
  params?: ObjectSchema | undefined;
  querystring?: ObjectSchema | undefined;
  body?: object | undefined;
}

interface ObjectSchema {
  properties: Record<string, { description?: string }>;
  required?: string[];
}

/** What any request can meet before its route is asked. */
const ANY: ErrorCode[] = ['origin_not_allowed', 'request_timeout', 'expectation_failed', 'host_not_allowed', 'headers_too_large'];
/** What a call to the processes can meet when they are behind another gateway. */
const BEHIND: ErrorCode[] = ['upstream_unreachable'];
const ANY_CLOSED: ErrorCode[] = [...ANY, 'unauthorized', 'not_same_origin', 'internal', 'shutting_down'];
/** What a call with a session can meet when it may change something. */
const ANY_CHANGING: ErrorCode[] = [...ANY_CLOSED, 'invalid_csrf_token'];

const names = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [JSON.stringify(schema), name]));

/** The whole spec. Each route needs its operation, and each operation its route. */
export function openapiDocument(routes: Route[], version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const responses: Record<string, unknown> = {};
  const left = new Set(Object.keys(OPERATIONS));
  for (const route of routes) {
    const key = `${route.method} ${route.path}`;
    const operation = OPERATIONS[key];
    if (operation === undefined) throw new Error(`Describe ${key} in operations.ts.`);
    left.delete(key);
    paths[route.path] ??= {};
    (paths[route.path] as Record<string, unknown>)[route.method.toLowerCase()] = operationObject(route, operation, responses);
  }
  if (left.size > 0) throw new Error(`No route for ${[...left].join(', ')}.`);
  return {
    openapi: '3.1.0',
    info: info(version),
    servers: [{ url: 'http://127.0.0.1:8787', description: 'The default address.' }],
    security: [{ bearer: [] }, { session: [] }],
    tags: [
      { name: 'Processes', description: 'Start, look at and end processes.' },
      { name: 'Output', description: 'Read and follow what they print.' },
      { name: 'Input', description: 'Feed and steer them.' },
      { name: 'Files', description: 'Read, write, list, search and watch files.' },
      { name: 'Gateway', description: 'The gateway itself.' },
    ],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [name, withRefs(schema, name)])),
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: Object.fromEntries(Object.entries(responses).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The token that the gateway was started with.' },
        ticket: {
          type: 'apiKey',
          in: 'query',
          name: 'ticket',
          description: 'A ticket of POST /tickets, in place of the token and never with it.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'exec_gateway_session',
          description:
            'The cookie of POST /session; its name goes on with 8 digits of the gateway. Methods other than GET and HEAD carry X-CSRF-Token besides.',
        },
      },
    },
  };
}

function info(version: string): object {
  const rows = ERROR_CODES.map((code) => `| \`${code}\` | ${ERRORS[code].join(' | ')} |`);
  return {
    title: 'exec-gateway',
    version,
    summary: 'Start, watch, feed and end processes over plain HTTP.',
    description: `Every event of a process takes the next number (seq) from 1, without holes, on every way of reading.

Unknown fields and query parameters are refused; nothing is converted. Errors are problem documents (RFC 9457) with a code:

| code | status | meaning |
|---|---|---|
${rows.join('\n')}
`,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  };
}

function operationObject(route: Route, operation: Operation, shared: Record<string, unknown>): object {
  const { operationId, tag, summary, description, open, ticket } = operation;
  const parameters = [...parametersOf(route.params, 'path'), ...parametersOf(route.querystring, 'query')];
  for (const name of operation.headers ?? []) parameters.push({ $ref: `#/components/parameters/${name}` });
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(open ? { security: [] } : {}),
    ...(ticket ? { security: [{ bearer: [] }, { session: [] }, { ticket: [] }] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, operation) }),
    ...(operation.upload === undefined ? {} : { requestBody: uploadBody(operation.upload) }),
    responses: {
      ...Object.fromEntries(Object.entries(operation.replies).map(([status, reply]) => [status, replyObject(reply)])),
      ...problems([...operation.errors, ...common(route.method, open), ...(tag === 'Gateway' ? [] : BEHIND)], shared),
    },
  };
}

function common(method: string, open: true | undefined): ErrorCode[] {
  if (open) return ANY;
  return method === 'GET' || method === 'HEAD' ? ANY_CLOSED : ANY_CHANGING;
}

function parametersOf(schema: ObjectSchema | undefined, place: 'path' | 'query'): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...rest }]) => {
    const ref = withRefs({ description, ...rest });
    const own = '$ref' in ref ? ref : (withRefs(rest) as object);
    return { name, in: place, ...(place === 'path' ? { required: true } : {}), ...(description ? { description } : {}), schema: own };
  });
}

function requestBody(body: object, { example, octets, bodyOptional }: Operation): object {
  const json = 'content' in body ? (body.content as Record<string, { schema: object }>)['application/json']?.schema : body;
  return {
    ...(bodyOptional ? {} : { required: true }),
    content: {
      'application/json': { schema: withRefs(json as object), example },
      ...(octets === undefined ? {} : { 'application/octet-stream': { schema: { type: 'string', format: 'binary' }, example: octets } }),
    },
  };
}

function uploadBody({ type, example }: NonNullable<Operation['upload']>): object {
  return { content: { [type]: { schema: { type: 'string', format: 'binary' }, example } } };
}

function replyObject({ description, content, headers = [] }: Reply): object {
  return {
    description,
    headers: headerRefs(['X-Request-Id', ...headers]),
    ...(content === undefined
      ? {}
      : {
          content: Object.fromEntries(
            Object.entries(content).map(([type, { schema, example }]) => [type, { schema: withRefs(schema), example }]),
          ),
        }),
  };
}

function headerRefs(headers: string[]): object {
  return Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Error replies by status; replies with the same codes are shared. */
function problems(codes: ErrorCode[], shared: Record<string, unknown>): Record<string, object> {
  const known = ERROR_CODES.filter((code) => codes.includes(code));
  const statuses = [...new Set(known.map((code) => ERRORS[code][0]))];
  const refs = statuses.map((status) => {
    const group = known.filter((code) => ERRORS[code][0] === status);
    const name = group.join('.');
    shared[name] ??= problemResponse(status, group);
    return [String(status), { $ref: `#/components/responses/${name}` }];
  });
  return Object.fromEntries(refs);
}

function problemResponse(status: number, codes: ErrorCode[]): object {
  const extra = status === 401 ? ['WWW-Authenticate'] : status === 429 || status === 503 ? ['Retry-After'] : [];
  return {
    description: codes.map((code) => `${code}: ${ERRORS[code][1]}.`).join(' '),
    headers: headerRefs(['X-Request-Id', ...extra]),
    content: {
      [PROBLEM_TYPE]: {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { summary: ERRORS[code][1], value: problemExample(code) }])),
      },
    },
  };
}

/** The plain JSON of a schema, with names in place of the parts that have one. */
function withRefs(schema: object, own?: string): object {
  const name = names.get(JSON.stringify(schema));
  if (name !== undefined && name !== own) return { $ref: `#/components/schemas/${name}` };
  if (Array.isArray(schema)) return schema.map(part);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, part(value)]));
}

function part(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? withRefs(value) : value;
}
