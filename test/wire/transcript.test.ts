import { describe, expect, test } from 'vitest';
import type { Problem } from '../../src/protocol/index.js';
import { parseCast } from '../support/cast.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();
const at = (process_id: string, query = '') => `/processes/${process_id}/transcript${query}`;
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') => gateway.fetch(path, { method, headers });
const problem = async (reply: Response) => (await reply.json()) as Problem;

async function ended(line: string, rest = {}): Promise<string> {
  const { process_id } = await gateway.start(['sh', '-c', line], rest);
  for (let after_seq = 0, closed = false; !closed; ) {
    const told = (await (await gateway.fetch(`/processes/${process_id}/output?after_seq=${after_seq}&wait_ms=20000`)).json()) as {
      closed: boolean;
      next_seq: number;
    };
    closed = told.closed;
    after_seq = told.next_seq - 1;
  }
  return process_id;
}

const told = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => !['date', 'x-request-id', 'connection', 'keep-alive'].includes(name)));

describe('a transcript over HTTP', () => {
  test('is a file to be saved, with its length, and HEAD tells the same', async () => {
    const id = await ended('printf 0123456789', { process_id: 'ten:1' });
    const [whole, head] = [await get(at(id)), await get(at(id), {}, 'HEAD')];
    expect([whole.status, await whole.text()]).toEqual([200, '0123456789']);
    expect(told(whole)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10',
      'content-disposition': 'attachment; filename="ten:1.log"',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[\w-]+"$/),
      'exec-next-seq': '4',
      'exec-closed': 'true',
      'cache-control': 'private, no-cache, no-transform',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
    });
    expect(whole.headers.has('exec-gap')).toBe(false);
    expect([head.status, told(head), await head.text()]).toEqual([200, told(whole), '']);
    const text = await get(at(id), { accept: 'text/plain' });
    expect([text.headers.get('content-type'), await text.text()]).toEqual(['text/plain; charset=utf-8', '0123456789']);
  });

  test.each([
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=3-5', '345', 'bytes 3-5/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['bytes=9-99', '9', 'bytes 9-9/10'],
    ['bytes=0-2,3-5', '012345', 'bytes 0-5/10'],
  ])('a part: %s', async (range, text, content_range) => {
    const id = await ended('printf 01234; sleep 0.05; printf 56789');
    const reply = await get(at(id), { range });
    expect([reply.status, await reply.text(), reply.headers.get('content-range'), reply.headers.get('content-length')]).toEqual([
      206,
      text,
      content_range,
      String(text.length),
    ]);
  });

  test('several parts, and what is no range, are answered with all of it; what lies beyond is refused', async () => {
    const id = await ended('printf 0123456789');
    for (const range of ['bytes=0-1,5-6', 'lines=1-2', 'bytes=5-2', 'bytes=x']) {
      const reply = await get(at(id), { range });
      expect([reply.status, await reply.text()]).toEqual([200, '0123456789']);
    }
    for (const range of ['bytes=10-', 'bytes=-0', 'bytes=99-100']) {
      const reply = await get(at(id), { range });
      expect([reply.status, reply.headers.get('content-range')]).toEqual([416, 'bytes */10']);
      expect(await problem(reply)).toMatchObject({ code: 'range_not_satisfiable', size_bytes: 10 });
    }
    const none = await ended('true');
    expect((await get(at(none), { range: 'bytes=0-' })).status).toBe(416);
  });

  test('its ETag is good for conditions, and changes with what there is', async () => {
    const { process_id: id } = await gateway.start(['sh', '-c', 'echo one; read x; echo two'], { pipe_stdin: true });
    await (await gateway.fetch(`/processes/${id}/output?wait_ms=20000`)).text();
    const first = await get(at(id));
    const etag = first.headers.get('etag') as string;
    expect([await first.text(), first.headers.get('exec-closed'), first.headers.get('exec-next-seq')]).toEqual(['one\n', 'false', '2']);
    const unchanged = await get(at(id), { 'if-none-match': etag });
    expect([unchanged.status, unchanged.headers.get('etag'), await unchanged.text()]).toEqual([304, etag, '']);
    expect((await get(at(id), { 'if-none-match': `W/${etag}` }, 'HEAD')).status).toBe(304);
    expect((await get(at(id), { 'if-none-match': '*' })).status).toBe(304);
    await gateway.send('POST', `/processes/${id}/stdin`, { text: '\n', eof: true });
    await gateway.fetch(`/processes/${id}?wait_ms=20000`);
    await (await gateway.fetch(`/processes/${id}/output?follow=true`)).text();
    const changed = await get(at(id), { 'if-none-match': etag });
    expect([changed.status, await changed.text()]).toEqual([200, 'one\ntwo\n']);
    expect(await problem(await get(at(id), { 'if-match': etag }))).toMatchObject({
      code: 'precondition_failed',
      etag: changed.headers.get('etag'),
    });
    const ranged = async (if_range: string, query = '') => {
      const reply = await get(at(id, query), { range: 'bytes=2-', 'if-range': if_range });
      return [reply.status, await reply.text()];
    };
    expect(await ranged(changed.headers.get('etag') as string)).toEqual([206, 'e\ntwo\n']);
    expect(await ranged(etag)).toEqual([200, 'one\ntwo\n']);
    expect(await ranged(etag, '?before_seq=2')).toEqual([206, 'e\n']); // what it was then
    expect(await ranged(new Date().toUTCString())).toEqual([200, 'one\ntwo\n']);
    expect((await get(at(id), { 'if-none-match': 'no tag' })).status).toBe(400);
  });

  test('what is gone at the beginning is told by a header', async () => {
    const id = await ended('seq 1 50000', { retain_bytes: 10_000 });
    const reply = await get(at(id));
    const size = Number(reply.headers.get('content-length'));
    const { gap } = (await (await gateway.fetch(`/processes/${id}/output`)).json()) as { gap: { bytes: number } };
    expect(JSON.parse(reply.headers.get('exec-gap') as string)).toEqual(gap);
    const text = await reply.text();
    expect([text.length, gap.bytes + text.length]).toEqual([size, Array.from({ length: 50_000 }, (_, i) => `${i + 1}\n`).join('').length]);
  });

  test('a terminal as a recording, by Accept or by address', async () => {
    const id = await ended('printf "a\\tb"', { tty: true });
    for (const reply of [
      await get(at(id, '?format=asciicast'), { accept: 'text/html' }),
      await get(at(id), { accept: 'application/x-asciicast', range: 'bytes=0-1', 'if-none-match': '*' }),
    ]) {
      expect([reply.status, told(reply)]).toEqual([
        200,
        expect.objectContaining({
          'content-type': 'application/x-asciicast',
          'content-disposition': `attachment; filename="${id}.cast"`,
          'accept-ranges': 'none',
        }),
      ]);
      expect(['etag', 'content-length'].filter((name) => reply.headers.has(name))).toEqual([]);
      expect(parseCast(Buffer.from(await reply.arrayBuffer())).text).toBe('a\tb');
    }
    const head = await get(at(id, '?format=asciicast'), {}, 'HEAD');
    expect([head.status, head.headers.get('content-type'), head.headers.get('accept-ranges')]).toEqual([
      200,
      'application/x-asciicast',
      'none',
    ]);
    expect(await (await get(at(id, '?format=raw'), { accept: 'application/x-asciicast' })).text()).toBe('a\tb');
  });

  test('what cannot be given is refused', async () => {
    const id = await ended('echo x');
    const codes = async (...asked: Parameters<typeof get>[]) =>
      Promise.all(asked.map(async (call) => (await problem(await get(...call))).code));
    expect(
      await codes(
        [at(id, '?format=asciicast')],
        [at(id), { accept: 'application/x-asciicast' }],
        [at(id), { accept: 'image/png' }],
        [at(id, '?before_seq=99')],
        [at(id, '?before_seq=0')],
        [at(id, '?stream=all')],
        [at(id, '?format=v3')],
        [at('none')],
      ),
    ).toEqual([
      'not_a_tty',
      'not_a_tty',
      'not_acceptable',
      'cursor_ahead',
      'invalid_request',
      'invalid_request',
      'invalid_request',
      'process_not_found',
    ]);
    expect((await get(at('none'), {}, 'HEAD')).status).toBe(404);
    expect((await gateway.server.fetch(at(id), { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    expect((await gateway.fetch(at(id), { method: 'POST' })).status).toBe(405);
  });
});
