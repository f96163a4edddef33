import { expect, test } from 'vitest';
import { MAX_ARGUMENTS, MAX_BODY_DEPTH, MAX_BODY_NAMES, MAX_BODY_VALUES, MAX_VARIABLES } from '../../src/protocol/index.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();

/** Longest time that a request may hold up others, in milliseconds: five times what is aimed at, for slow machines. */
const HELD_UP_MS = 500;

const BODY_BYTES = 16 * 1024 * 1024;
const list = (count: number, item: (i: number) => string) => Array.from({ length: count }, (_, i) => item(i)).join(',');
const names = (count: number, more = '') => list(count, (i) => `"k${i}${more}":"v"`);
const long = (text: string, rest: number) => text.repeat(Math.floor((BODY_BYTES - rest) / text.length));

/** The longest wait of a caller that asks for nothing much, until `over`. */
async function longestWait(over: Promise<unknown>): Promise<number> {
  let longest = 0;
  let on = true;
  void over.finally(() => {
    on = false;
  });
  while (on) {
    const begun = performance.now();
    await (await gateway.fetch('/healthz')).arrayBuffer();
    longest = Math.max(longest, performance.now() - begun);
  }
  return longest;
}

const REFUSED: [what: string, body: () => string, problem: object][] = [
  ['500,000 variables', () => `{"argv":["true"],"env":{${names(500_000)}}}`, { code: 'invalid_request', limit: MAX_BODY_NAMES }],
  [
    'more variables than the limit',
    () => `{"argv":["true"],"env":{${names(MAX_VARIABLES + 1)}}}`,
    { code: 'invalid_request', field: 'env' },
  ],
  ['1,000,000 labels', () => `{"argv":["true"],"labels":{${names(1_000_000)}}}`, { code: 'invalid_request', limit: MAX_BODY_NAMES }],
  ['7,000,000 brackets', () => '['.repeat(7e6) + ']'.repeat(7e6), { code: 'invalid_request', limit: MAX_BODY_DEPTH }],
  ['4,000,000 arguments', () => `{"argv":[${list(4e6, () => '"x"')}]}`, { code: 'invalid_request', limit: MAX_BODY_VALUES }],
  ['more arguments than the limit', () => `{"argv":[${list(MAX_ARGUMENTS + 1, () => '"x"')}]}`, { code: 'invalid_request', field: 'argv' }],
  [
    'many globs on many names',
    () =>
      `{"argv":["true"],"env_policy":{"set":{${names(4096, 'a'.repeat(3000))}},"include_only":[${list(256, () => `"*${'a'.repeat(250)}b"`)}]}}`,
    { code: 'invalid_argument', field: 'env_policy' },
  ],
  [
    'a PATH of 43,000 entries',
    () => JSON.stringify({ argv: ['nope'], env: { PATH: '/x:'.repeat(43_000) } }),
    { code: 'command_not_found', detail: expect.stringContaining('first 1024 directories') },
  ],
  ['a directory of 16 MiB', () => `{"argv":["true"],"cwd":"/${long('x/', 60)}"}`, { code: 'invalid_request', field: 'cwd' }],
  ['an argument of 16 MiB', () => `{"argv":["true","${long('x', 60)}"]}`, { code: 'argument_list_too_long' }],
  ['a name of 16 MiB', () => `{"argv":["true"],"env":{"${long('x', 60)}":"v"}}`, { code: 'argument_list_too_long' }],
];

test.each(REFUSED)('%s are refused, and hold up nobody for long', async (_what, body, problem) => {
  const text = body();
  const call = gateway.fetch('/run', { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
  expect(await longestWait(call)).toBeLessThan(HELD_UP_MS);
  const reply = await call;
  const told = await reply.text();
  expect(JSON.parse(told)).toMatchObject(problem);
  expect(told.length).toBeLessThan(3_000);
});

const TAKEN: [what: string, body: () => string][] = [
  ['as many arguments as the limit', () => `{"argv":["true",${list(MAX_ARGUMENTS - 1, () => '"x"')}]}`],
  ['as many variables as the limit', () => `{"argv":["true"],"env":{${names(MAX_VARIABLES)}}}`],
  ['input as large as a body', () => `{"argv":["true"],"input":"${long('\\n', 60)}"}`],
  ['brackets in text', () => `{"argv":["true","\\"${'['.repeat(100_000)}"]}`],
];

test.each(TAKEN)('%s is taken, and holds up nobody for long', async (_what, body) => {
  const text = body();
  const call = gateway.fetch('/run', { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
  expect(await longestWait(call)).toBeLessThan(HELD_UP_MS);
  expect(await (await call).json()).toMatchObject({ exit_code: 0 });
});

test('a query asks for as many labels as a process has', async () => {
  const query = (count: number) => `/processes?${Array.from({ length: count }, () => 'label=a=b').join('&')}`;
  expect((await gateway.fetch(query(64))).status).toBe(200);
  const reply = await gateway.fetch(query(65));
  expect([reply.status, await reply.json()]).toMatchObject([400, { code: 'invalid_request', field: 'label' }]);
});
