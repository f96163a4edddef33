import fc from 'fast-check';
import { FILE_CALLS, FILE_HEADERS } from './fuzz-files.js';
import { badCount, type Call, flag, json, odd, oneOf, rarely, seq, sparse, wait, word } from './fuzz-values.js';

/** One request to send. */
export interface FuzzRequest {
  method: string;
  /** With the query, as it goes on the wire. */
  path: string;
  headers: Record<string, string | string[]>;
  /** One character a byte; null without a body. */
  body: string | null;
}

/** Processes that are always there: one that reads its input, one on a terminal, one that is closed. */
export const POOL = ['pipe', 'tty', 'done'] as const;

export const TOKEN = 'fuzz-token';
export const ALLOWED_ORIGIN = 'https://allowed.example';

const IDS = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<string>(...POOL) },
  { weight: 2, arbitrary: fc.stringMatching(/^[A-Za-z0-9._:-]{1,12}$/) },
);
/** Programs that harm nothing, and names of none. */
const program = rarely(
  fc.constantFrom('/bin/true', '/bin/echo', 'true', 'echo'),
  fc.constantFrom('no-such-program', './no-such', '/etc/hosts', '/', '', 'a\u0000b', '/etc/hosts/x'),
  5,
);
const record = fc.dictionary(rarely(fc.stringMatching(/^[A-Z_]{1,8}$/), odd), rarely(rarely(word, odd), json), { maxKeys: 3 });
const cells = rarely(fc.integer({ min: 1, max: 65_535 }), badCount);
const size = fc.record({ cols: cells, rows: cells });

const startFields = {
  process_id: rarely(fc.stringMatching(/^[A-Za-z0-9._:-]{8,12}$/), fc.oneof(IDS, odd)),
  cwd: rarely(fc.constantFrom('/', '/tmp'), fc.oneof(odd, fc.constantFrom('/etc/hosts', '/no-such'))),
  env: record,
  env_policy: fc.record(
    {
      inherit: rarely(fc.constantFrom('core', 'none', 'all'), fc.constant('some')),
      exclude: fc.array(rarely(fc.constantFrom('A*', '?'), odd), { maxLength: 2 }),
      set: record,
    },
    { requiredKeys: [] },
  ),
  arg0: rarely(word, odd),
  tty: rarely(fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.oneof(fc.constant(true), size) }), json),
  pipe_stdin: fc.boolean(),
  timeout_ms: rarely(fc.integer({ min: 1, max: 50 }), badCount),
  labels: record,
  retain_bytes: rarely(fc.integer({ min: 1, max: 10_000 }), badCount),
};
const argv = fc.tuple(program, fc.array(rarely(word, odd), { maxLength: 3 })).map(([name, rest]) => [name, ...rest]);

const start = sparse({ argv }, startFields);
const run = sparse(
  { argv, wait_ms: fc.nat(50) },
  {
    ...startFields,
    input: word,
    input_base64: rarely(fc.base64String(), odd),
    max_bytes: rarely(fc.nat(100), badCount),
    encoding: rarely(fc.constantFrom('utf8', 'base64'), fc.constant('hex')),
  },
);
const offset = rarely(fc.constant(0), badCount);
const write = fc.oneof(
  sparse({ chunk: rarely(fc.base64String(), odd), wait_ms: fc.nat(20) }, { eof: fc.boolean(), offset }),
  sparse({ text: rarely(word, odd) }, { eof: fc.boolean(), offset, wait_ms: fc.nat(20) }),
);
const signal = sparse(
  { signal: rarely(fc.constantFrom('SIGCONT', 'cont', 'WINCH'), fc.oneof(odd, fc.constant('SIGNONE'))) },
  { scope: rarely(fc.constantFrom('group', 'leader', 'foreground'), odd) },
);

const ticket = sparse(
  { process_id: rarely(IDS, odd) },
  { scope: rarely(fc.constantFrom('read', 'write'), odd), ttl_ms: rarely(fc.integer({ min: 1000, max: 60_000 }), badCount) },
);

/** The headers of a WebSocket that is whole. */
const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

const label = oneOf('k=v');
const stream = oneOf('stdout', 'stderr', 'pty');

const ONE = '/processes/{id}';
const CALLS: Call[] = [
  { method: 'POST', path: '/processes', body: start, query: {} },
  { method: 'PUT', path: ONE, body: start, query: {} },
  { method: 'POST', path: '/run', body: run, query: {} },
  { method: 'GET', path: '/processes', query: { state: oneOf('running', 'closed'), label, limit: seq, cursor: seq, usage: flag } },
  { method: 'GET', path: ONE, query: { wait_ms: wait, usage: flag } },
  {
    method: 'GET',
    path: `${ONE}/output`,
    query: { after_seq: seq, wait_ms: wait, max_bytes: seq, stream, encoding: oneOf('base64', 'utf8'), follow: flag },
  },
  { method: 'GET', path: `${ONE}/events`, query: { after_seq: seq, stream } },
  {
    method: 'GET',
    path: `${ONE}/attach`,
    query: { after_seq: seq, stream, read_only: flag, screen: flag, ticket: oneOf('read.0.pipe.x', 'x') },
    headers: fc.constantFrom<Record<string, string>>(
      {},
      UPGRADE,
      { ...UPGRADE, 'sec-websocket-protocol': 'exec-gateway.v1' },
      { upgrade: 'websocket' },
    ),
  },
  {
    method: 'GET',
    path: `${ONE}/screen`,
    query: { after_seq: seq, wait_ms: wait, quiet_ms: wait, paint: flag },
  },
  { method: 'GET', path: `${ONE}/transcript`, query: { stream, format: oneOf('raw', 'asciicast'), before_seq: seq } },
  { method: 'HEAD', path: `${ONE}/transcript`, query: { stream, format: oneOf('raw', 'asciicast'), before_seq: seq } },
  { method: 'POST', path: '/tickets', body: ticket, query: {} },
  { method: 'POST', path: '/session', body: fc.record({ token: rarely(fc.constant(TOKEN), odd) }), query: {} },
  { method: 'GET', path: '/session', query: {} },
  { method: 'DELETE', path: '/session', query: {} },
  { method: 'GET', path: '/events', query: { label, output: flag } },
  { method: 'POST', path: `${ONE}/stdin`, body: write, query: { eof: flag, offset: seq, wait_ms: wait } },
  { method: 'POST', path: `${ONE}/signal`, body: signal, query: {} },
  { method: 'POST', path: `${ONE}/resize`, body: size, query: {} },
  { method: 'DELETE', path: ONE, query: { grace_ms: seq, wait_ms: wait, purge: flag } },
  ...FILE_CALLS,
  { method: 'GET', path: '/healthz', query: {} },
  { method: 'GET', path: '/readyz', query: {} },
  { method: 'GET', path: '/metrics', query: {} },
  { method: 'GET', path: '/openapi.json', query: {} },
];

const headers = fc.record(
  {
    authorization: rarely(
      fc.constant(`Bearer ${TOKEN}`),
      fc.constantFrom('', 'Bearer', 'bearer x', `Basic ${TOKEN}`, [`Bearer ${TOKEN}`, 'Bearer x']),
      30,
    ),
    host: rarely(fc.constant('localhost:{port}'), fc.constantFrom('evil.example', 'localhost.', '127.0.0.1', '[::1]:1', 'a b', ''), 60),
    cookie: fc.constantFrom('exec_gateway_session_x=1', ';;=', 'a=b'),
    origin: fc.constantFrom(ALLOWED_ORIGIN, 'null', 'https://evil.example', 'http://localhost:{port}'),
    accept: fc.constantFrom(
      '*/*',
      'application/json',
      'text/plain',
      'application/octet-stream;q=0.5',
      'image/png',
      ';,q',
      'text/event-stream',
      'application/vnd.exec-gateway.events',
      'application/x-asciicast',
    ),
    'last-event-id': seq.filter((value) => value !== '٣'),
    'x-request-id': fc.constantFrom('fine-1', 'not fine', 'x'.repeat(100)),
    'access-control-request-method': fc.constantFrom('POST', 'PATCH'),
    expect: fc.constant('a miracle'),
    'accept-version': fc.constant('2'),
    ...FILE_HEADERS,
  },
  { requiredKeys: ['authorization', 'host'] },
);

/** Most optional headers are left out most of the time. */
const someHeaders = fc.tuple(headers, fc.infiniteStream(fc.nat(9))).map(([all, chance]) => {
  const kept = Object.entries(all).filter(([name]) => name === 'authorization' || name === 'host' || chance.next().value === 0);
  return Object.fromEntries(kept) as Record<string, string | string[]>;
});

const contentType = rarely(
  fc.constantFrom('application/json', 'application/json; charset=utf-8'),
  fc.constantFrom(
    null,
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/json; charset=latin1',
    'nonsense',
  ),
);
const rawBody = fc.oneof(
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.constantFrom('{', '{"__proto__":{}}', 'null', '[]', '"x"', '{"argv":["/bin/true"],"constructor":{"prototype":{}}}'),
  fc.constant('x'.repeat(70_000)),
);

function bodyOf(call: Call): fc.Arbitrary<string | null> {
  if (call.raw) return rawBody;
  if (call.body === undefined) return rarely(fc.constant(null), rawBody);
  const changed = fc
    .tuple(call.body, fc.constantFrom('argv', 'tty', 'env', 'cols', 'signal', 'chunk', 'eof', 'unknown'), json)
    .map(([value, field, wild]) => ({ ...(value as object), [field]: wild }));
  const encoded = rarely(call.body, changed, 4).map((value) => Buffer.from(JSON.stringify(value)).toString('latin1'));
  return rarely(encoded, fc.oneof(rawBody, fc.constant(null)), 8);
}

function queryOf(call: Call): fc.Arbitrary<string> {
  const given = (parameters: Record<string, fc.Arbitrary<string>>) =>
    Object.entries(parameters).map(([name, values]) => values.map((value) => `${name}=${encodeURIComponent(value.toWellFormed())}`));
  const known = given(call.query);
  const wild = fc.constantFrom(
    'token=x',
    'a',
    '=',
    '%zz=%zz',
    '__proto__=1',
    'constructor=1',
    '&&',
    'after_seq[]=1',
    'wait_ms=1&wait_ms=1',
  );
  const some = fc.subarray(known, { maxLength: Math.min(3, known.length) }).chain((parts) => fc.tuple(...parts));
  const parts = rarely(some, fc.array(fc.oneof(fc.constant('a=1'), ...known), { maxLength: 4 }));
  return fc
    .tuple(
      parts,
      fc.tuple(...given(call.required ?? {})),
      rarely(
        fc.constant<string[]>([]),
        wild.map((part) => [part]),
        10,
      ),
    )
    .map((all) => all.flat().join('&'));
}

const wildPath = fc.oneof(
  fc.constantFrom(
    '/',
    '//',
    '/processes/',
    '/processes//output',
    '/processes/..%2f..',
    '/%zz',
    '/%ff',
    '/processes/%00',
    '*',
    '/nope',
    '/processes/a/b/c',
    `/processes/${'y'.repeat(700)}`,
  ),
  fc.webPath().map((path) => `/${path}`),
);

function requestFor(call: Call): fc.Arbitrary<FuzzRequest> {
  const id = rarely(IDS, odd).map((value) => encodeURIComponent(value.toWellFormed()));
  const path = rarely(
    id.map((value) => call.path.replace('{id}', value)),
    wildPath,
    20,
  );
  const method = rarely(
    fc.constant(call.method),
    fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'),
    20,
  );
  return fc
    .tuple(method, path, queryOf(call), fc.tuple(someHeaders, call.headers ?? fc.constant({})), contentType, bodyOf(call))
    .map(([name, address, query, [some, own], type, body]) => ({
      method: name,
      path: query === '' ? address : `${address}?${query}`,
      headers: { ...some, ...own, ...(type === null || body === null ? {} : { 'content-type': type }) },
      body,
    }));
}

/** Requests of every kind: right ones, nearly right ones and wild ones. */
export const fuzzRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(...CALLS.map(requestFor));

/** Bytes that are hardly a request. */
export const brokenRequest: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => Buffer.concat([Buffer.from(bytes), Buffer.from('\r\n\r\n')])),
  fc
    .tuple(
      fc.constantFrom('GET / HTTP/1.1', 'GET /healthz HTTP/1.1', 'POST /processes HTTP/1.1', 'GET  HTTP/9', ''),
      fc.array(fc.string({ maxLength: 20 }), { maxLength: 4 }),
    )
    .map(([line, fields]) => Buffer.from(`${line}\r\n${fields.join('\r\n')}\r\n\r\n`)),
  fc
    .constantFrom(
      `GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
      'POST /run HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n',
    )
    .map((value) => Buffer.from(value)),
);
