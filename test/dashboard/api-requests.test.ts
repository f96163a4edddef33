import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type CallRequest, callRequest, emptyFilled } from '../../web/api/call-request.js';
import { curlLine } from '../../web/api/curl-line.js';
import { MAX_BODY_BYTES, StreamText, shownBody } from '../../web/api/reply-body.js';
import { schemaText } from '../../web/api/schema-text.js';
import { readSpec } from '../../web/api/spec.js';

const document = JSON.parse(readFileSync(new URL('../../dist/openapi.json', import.meta.url), 'utf8'));
const spec = readSpec(document);
const calls = spec.groups.flatMap((group) => group.calls);
const call = (id: string) => calls.find((one) => one.id === id) ?? expect.unreachable(id);
const bytes = (text: string) => new TextEncoder().encode(text);

const request = (id: string, change: Partial<ReturnType<typeof emptyFilled>> = {}): CallRequest =>
  callRequest(call(id), { ...emptyFilled(call(id)), ...change });

test('every call of the spec is in one group, with what it refers to in its place', () => {
  const described = Object.entries<object>(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(calls.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(described.sort());
  for (const { id, parameters, replies } of calls) {
    expect(
      parameters.every(({ name, schema }) => name !== undefined && schema !== undefined),
      id,
    ).toBe(true);
    expect(
      replies.every(({ status, description }) => status >= 100 && description !== ''),
      id,
    ).toBe(true);
  }
});

test('what is filled in becomes the request: paths escaped, lists repeated, empty fields left out', () => {
  const values = { 'path:process_id': 'a b/..', 'query:wait_ms': '0', 'query:purge': 'true', 'query:grace_ms': '' };
  expect(request('terminateProcess', { values })).toMatchObject({
    method: 'DELETE',
    path: '/processes/a%20b%2F..?wait_ms=0&purge=true',
    headers: [],
    body: null,
  });
  expect(request('listProcesses', { values: { 'query:label': 'a=1\nb=2 & 3' } }).path).toBe('/processes?label=a%3D1&label=b%3D2+%26+3');
  expect(request('readFile', { values: { 'query:path': 'x', 'header:Range': 'bytes=0-9' } }).headers).toEqual([['Range', 'bytes=0-9']]);
  expect(request('getDashboard').headers).toEqual([['Accept', 'text/html']]);
  expect(request('followProcess', { values: { 'path:process_id': 'a' } })).toMatchObject({ live: true });
  expect(request('attachProcess', { values: { 'path:process_id': 'a' } })).toMatchObject({ socket: true, live: false });
});

test('a body begins with the example; an empty one is sent only where one is needed', () => {
  expect(JSON.parse(request('run').body as string)).toEqual(document.paths['/run'].post.requestBody.content['application/json'].example);
  expect(request('run', { body: '' }).body).toBe('');
  expect(request('writeFile', { body: '' }).body).toBeNull();
  expect(request('createUpload').headers).toContainEqual(['Upload-Length', '6']);
});

test('a curl line for every call, without a token', () => {
  for (const one of calls) {
    const line = curlLine(callRequest(one, emptyFilled(one)), 'http://gateway/prefix');
    expect(line, one.id).toMatch(/^curl .*'http:\/\/gateway\/prefix\//);
    expect(line.includes('Bearer $EXEC_GATEWAY_TOKEN'), one.id).toBe(!one.open);
  }
  const body = `{"token": "se\\"cret", "other": "it's"}`;
  expect(curlLine(request('signIn', { body }), '')).toContain(`'{"token": "'"$EXEC_GATEWAY_TOKEN"'", "other": "it'\\''s"}'`);
});

test('what a value may be is told in words', () => {
  expect(schemaText({ type: 'integer', minimum: 1, maximum: 1000 })).toBe('integer, 1 to 1,000');
  expect(schemaText({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER })).toBe('integer, at least 0');
  expect(schemaText({ type: 'array', maxItems: 64, items: { type: 'string' } })).toBe('list of string, at most 64');
  expect(schemaText({ anyOf: [{ $ref: '#/components/schemas/Gap' }, { type: 'null' }] })).toBe('Gap | null');
  expect(schemaText({ enum: ['a', 'b'] })).toBe('a | b');
  for (const { parameters } of calls) for (const { schema } of parameters) expect(schemaText(schema)).not.toContain('undefined');
});

test('a body is shown as what it is', () => {
  expect(shownBody('application/problem+json', bytes('{"a":1}'))).toEqual({ kind: 'json', text: '{\n  "a": 1\n}' });
  expect(shownBody('application/json', bytes('{"a":'))).toEqual({ kind: 'text', text: '{"a":' });
  expect(shownBody('text/html', bytes('<b>é'))).toEqual({ kind: 'text', text: '<b>é' });
  expect(shownBody('', new Uint8Array())).toEqual({ kind: 'none' });
  expect(shownBody('text/plain', new Uint8Array([0, 65, 255]))).toMatchObject({ kind: 'hex', text: /^00000000 {2}00 41 ff +\.A\.$/ });
  expect(shownBody('', new Uint8Array(3000).fill(255))).toMatchObject({ text: /… and 1.9 KiB more$/ });
  const cut = new Uint8Array(MAX_BODY_BYTES).fill(97).fill(0xc3, -1);
  expect(shownBody('text/plain', cut)).toMatchObject({ kind: 'text', text: /^a+$/ });
});

test('of a stream the newest text is kept, and a character may come in two parts', () => {
  const stream = new StreamText();
  stream.add(bytes('x'.repeat(70_000)));
  stream.add(new Uint8Array([0xc3]));
  const text = stream.add(new Uint8Array([0xa9]));
  expect([text.length, text.endsWith('xé')]).toEqual([65_536, true]);
});
