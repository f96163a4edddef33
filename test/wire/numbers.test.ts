import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Problem, ReadResult } from '../../src/protocol/index.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();

const get = (path: string, headers: Record<string, string> = {}) => gateway.fetch(path, { headers });

const MALFORMED = [
  '-1',
  '1.5',
  '1e3',
  '',
  '9007199254740993',
  '9007199254740992',
  '18446744073709551616',
  '+1',
  ' 1',
  '01',
  '0x1',
  '1_0',
  'NaN',
  'null',
  '١',
];

/** The process that all of these look at: closed, with 3 events. */
async function closed(): Promise<string> {
  const { process_id } = await gateway.start(['echo', 'hello']);
  await get(`/processes/${process_id}/output?follow=true`).then((reply) => reply.text());
  return `/processes/${process_id}`;
}

describe('B64 a malformed number', () => {
  test.each(MALFORMED)('%j is 400 as a cursor, on every transport', async (text) => {
    const at = await closed();
    const value = encodeURIComponent(text);
    const replies = [
      await get(`${at}/output?after_seq=${value}`),
      await get(`${at}/output?follow=true&after_seq=${value}`),
      await get(`${at}/events?after_seq=${value}`),
      ...(/^[\x21-\x7e]+$/.test(text) ? [await get('/events?output=true', { 'last-event-id': text })] : []),
      ...(/^[\x21-\x7e]+$/.test(text) ? [await get(`${at}/events`, { 'last-event-id': text })] : []),
      ...(/^[\x21-\x7e]+$/.test(text) ? [await get(`${at}/events?after_seq=1`, { 'last-event-id': text })] : []),
    ];
    for (const reply of replies) {
      const problem = (await reply.json()) as Problem;
      expect([reply.status, problem.code, problem.field]).toEqual([
        400,
        'invalid_cursor',
        expect.stringMatching(/^(after_seq|Last-Event-ID)$/),
      ]);
    }
  });

  test.each(MALFORMED)('%j is 400 as a wait, a size, a limit, an offset, a grace', async (text) => {
    const at = await closed();
    const value = encodeURIComponent(text);
    for (const [method, path, field] of [
      ['GET', `${at}/output?wait_ms=${value}`, 'wait_ms'],
      ['GET', `${at}/output?max_bytes=${value}`, 'max_bytes'],
      ['GET', `${at}?wait_ms=${value}`, 'wait_ms'],
      ['GET', `/processes?limit=${value}`, 'limit'],
      ['POST', `${at}/stdin?offset=${value}`, 'offset'],
      ['POST', `${at}/stdin?wait_ms=${value}`, 'wait_ms'],
      ['DELETE', `${at}?grace_ms=${value}`, 'grace_ms'],
      ['DELETE', `${at}?wait_ms=${value}`, 'wait_ms'],
    ] as const) {
      const init = method === 'POST' ? { method, body: 'x', headers: { 'content-type': 'application/octet-stream' } } : { method };
      const reply = await gateway.fetch(path, init);
      expect([path, reply.status, await reply.json()]).toMatchObject([path, 400, { code: 'invalid_request', field }]);
    }
  });

  test('a number given twice is refused, whatever the second is', async () => {
    const at = await closed();
    for (const query of [
      'after_seq=0&after_seq=1',
      'after_seq=0&after_seq=0',
      'wait_ms=1&wait_ms=1',
      'max_bytes=5&max_bytes=6',
      'after_seq[]=0',
    ]) {
      expect([query, (await get(`${at}/output?${query}`)).status]).toEqual([query, 400]);
    }
  });

  test('booleans and words are as strict', async () => {
    const at = await closed();
    for (const query of ['follow=1', 'follow=TRUE', 'follow=', 'stream=STDOUT', 'stream=', 'encoding=hex', 'unknown=1', '__proto__=1']) {
      const reply = await get(`${at}/output?${query}`);
      expect([query, reply.status, (await reply.json()).code]).toEqual([query, 400, 'invalid_request']);
    }
    for (const cursor of ['x', '-1', '1e3', '', '99999999999999999999']) {
      expect([cursor, (await get(`/processes?cursor=${cursor}`)).status]).toEqual([cursor, 400]);
    }
  });
});

test('an empty Last-Event-ID says that nothing was seen: after_seq counts, or the beginning', async () => {
  const at = await closed();
  const first = async (path: string) => /^id: (\d+)$/m.exec(await (await get(path, { 'last-event-id': '' })).text())?.[1];
  expect(await first(`${at}/events`)).toBe('1');
  expect(await first(`${at}/events?after_seq=1`)).toBe('2');
  expect((await get(`${at}/events?after_seq=1`, { 'last-event-id': '2' })).status).toBe(200);
});

describe('B64 a cursor in the future', () => {
  test('is 409 with the place to continue, on every transport', async () => {
    const at = await closed();
    for (const seq of ['4', '5', String(Number.MAX_SAFE_INTEGER)]) {
      for (const reply of [
        await get(`${at}/output?after_seq=${seq}`),
        await get(`${at}/output?after_seq=${seq}&wait_ms=60000`),
        await get(`${at}/output?follow=true&after_seq=${seq}`),
        await get(`${at}/events?after_seq=${seq}`),
        await get(`${at}/events`, { 'last-event-id': seq }),
      ]) {
        expect([reply.status, await reply.json()]).toMatchObject([409, { code: 'cursor_ahead', next_seq: 4 }]);
      }
    }
    expect((await get(`${at}/output?after_seq=3`)).status).toBe(200);
    expect((await get(`${at}/events?after_seq=3`)).status).toBe(204);
  });
});

describe('B64 numbers that are too large', () => {
  test('are clamped: a wait answers when there is news, a size gives all', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'read line; echo $line'], { pipe_stdin: true });
    const wait = get(`/processes/${process_id}/output?wait_ms=1000000000&max_bytes=9007199254740991&encoding=utf8`);
    const exit = get(`/processes/${process_id}?wait_ms=9007199254740991`);
    await gateway.send('POST', `/processes/${process_id}/stdin`, { text: 'hello\n', wait_ms: 9_007_199_254_740_991 });
    expect(((await (await wait).json()) as ReadResult).chunks).toEqual([{ seq: 1, stream: 'stdout', chunk: 'hello\n' }]);
    expect(await (await exit).json()).toMatchObject({ exit_code: 0 });
  });
});

describe('B64 a small max_bytes', () => {
  test.each([0, 1, 3])('of %i makes progress, and the whole read-out is exact', async (max_bytes) => {
    const text = Buffer.concat([Buffer.from('日本語 – ünïcödé 😀\n'.repeat(2000)), randomBytes(40_000)]);
    const reply = await gateway.send('POST', '/run', {
      argv: ['cat'],
      input_base64: text.toString('base64'),
      process_id: `cat${max_bytes}`,
    });
    expect((await reply.json()).exit_code).toBe(0);
    const parts: Buffer[] = [];
    let seq = 0;
    for (let closed = false; !closed; ) {
      const answer = (await (await get(`/processes/cat${max_bytes}/output?after_seq=${seq}&max_bytes=${max_bytes}`)).json()) as ReadResult;
      expect(answer.chunks.length).toBeLessThanOrEqual(1);
      for (const chunk of answer.chunks) {
        expect(chunk.seq).toBeGreaterThan(seq); // the exit may be told in between
        parts.push(Buffer.from(chunk.chunk, 'base64'));
      }
      expect(answer.next_seq).toBeGreaterThan(seq + 1);
      seq = answer.next_seq - 1;
      closed = answer.closed;
    }
    expect(Buffer.concat(parts).equals(text)).toBe(true);
  });
});
