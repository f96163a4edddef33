import { describe, expect, test } from 'vitest';
import type { Problem } from '../../src/protocol/index.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();

async function problemOf(reply: Response): Promise<Problem> {
  expect(reply.headers.get('content-type')).toBe('application/problem+json');
  return (await reply.json()) as Problem;
}

describe('B35 no value is bent into the type that was meant', () => {
  test.each<[string, unknown, string]>([
    ['argv as text', { argv: 'ls' }, 'argv'],
    ['argv as an object', { argv: { 0: 'ls' } }, 'argv'],
    ['argv empty', { argv: [] }, 'argv'],
    ['argv missing', {}, 'argv'],
    ['argv null', { argv: null }, 'argv'],
    ['a number in argv', { argv: ['ls', 1] }, 'argv[1]'],
    ['null in argv', { argv: ['ls', null] }, 'argv[1]'],
    ['true in argv', { argv: [true] }, 'argv[0]'],
    ['tty as text', { argv: ['ls'], tty: 'false' }, 'tty'],
    ['tty as a number', { argv: ['ls'], tty: 0 }, 'tty'],
    ['tty null', { argv: ['ls'], tty: null }, 'tty'],
    ['cols as text', { argv: ['ls'], tty: { cols: '80' } }, 'tty.cols'],
    ['cols 0', { argv: ['ls'], tty: { cols: 0 } }, 'tty.cols'],
    ['rows 65536', { argv: ['ls'], tty: { rows: 65_536 } }, 'tty.rows'],
    ['cwd null', { argv: ['ls'], cwd: null }, 'cwd'],
    ['cwd empty', { argv: ['ls'], cwd: '' }, 'cwd'],
    ['cwd a number', { argv: ['ls'], cwd: 1 }, 'cwd'],
    ['env null', { argv: ['ls'], env: null }, 'env'],
    ['env an array', { argv: ['ls'], env: ['A=1'] }, 'env'],
    ['a null variable', { argv: ['ls'], env: { A: null } }, 'env.A'],
    ['a number as variable', { argv: ['ls'], env: { A: 1 } }, 'env.A'],
    ['pipe_stdin as text', { argv: ['ls'], pipe_stdin: 'true' }, 'pipe_stdin'],
    ['pipe_stdin as a number', { argv: ['ls'], pipe_stdin: 1 }, 'pipe_stdin'],
    ['timeout_ms as text', { argv: ['ls'], timeout_ms: '1000' }, 'timeout_ms'],
    ['timeout_ms a fraction', { argv: ['ls'], timeout_ms: 1.5 }, 'timeout_ms'],
    ['timeout_ms negative', { argv: ['ls'], timeout_ms: -1 }, 'timeout_ms'],
    ['retain_bytes too large', { argv: ['ls'], retain_bytes: 2 ** 40 }, 'retain_bytes'],
    ['labels as an array', { argv: ['ls'], labels: ['a'] }, 'labels'],
    ['a label that is a number', { argv: ['ls'], labels: { a: 1 } }, 'labels.a'],
    ['process_id a number', { argv: ['ls'], process_id: 7 }, 'process_id'],
    ['process_id empty', { argv: ['ls'], process_id: '' }, 'process_id'],
    ['process_id ..', { argv: ['ls'], process_id: '..' }, 'process_id'],
    ['process_id with a slash', { argv: ['ls'], process_id: 'a/b' }, 'process_id'],
    ['an unknown policy', { argv: ['ls'], env_policy: { inherit: 'some' } }, 'env_policy.inherit'],
    ['a misspelt field', { argv: ['ls'], commnad: ['x'] }, 'commnad'],
    ['a misspelt field inside', { argv: ['ls'], env_policy: { exclud: [] } }, 'env_policy.exclud'],
    ['an array as the body', [{ argv: ['ls'] }], 'the body'],
    ['text as the body', 'ls', 'the body'],
    ['null as the body', null, 'argv'],
  ])('%s is refused by its name', async (_kind, body, field) => {
    for (const [method, path] of [
      ['POST', '/processes'],
      ['PUT', '/processes/coerced'],
      ['POST', '/run'],
    ] as const) {
      if (method === 'PUT' && field === 'process_id') continue;
      const reply = await gateway.send(method, path, body);
      expect([method, reply.status, await problemOf(reply)]).toMatchObject([method, 400, { code: 'invalid_request', field }]);
    }
    expect(await gateway.list()).toEqual([]);
  });

  test('the other bodies are as strict', async () => {
    const { process_id } = await gateway.start(['cat'], { tty: true });
    const at = `/processes/${process_id}`;
    for (const [path, body, field] of [
      [`${at}/signal`, { signal: 15 }, 'signal'],
      [`${at}/signal`, { signal: 'TERM', scope: 'all' }, 'scope'],
      [`${at}/resize`, { cols: '80', rows: 24 }, 'cols'],
      [`${at}/resize`, { cols: 80 }, 'rows'],
      [`${at}/stdin`, { text: 1 }, 'text'],
      [`${at}/stdin`, { text: 'x', eof: 'true' }, 'eof'],
      [`${at}/stdin`, { text: 'x', offset: '0' }, 'offset'],
      [`${at}/stdin`, { data: 'x' }, 'data'],
      ['/run', { argv: ['ls'], wait_ms: '5' }, 'wait_ms'],
      ['/run', { argv: ['ls'], input: 1 }, 'input'],
    ] as const) {
      const reply = await gateway.send('POST', path, body);
      expect([path, reply.status, await problemOf(reply)]).toMatchObject([path, 400, { code: 'invalid_request', field }]);
    }
  });

  test('a message says what came and what is wanted', async () => {
    const reply = await gateway.send('POST', '/processes', { argv: 'ls -l' });
    expect((await problemOf(reply)).detail).toBe('argv must be an array of strings, with at least 1, at most 65536 items; got "ls -l".');
  });
});

describe('B36 an empty body with a JSON type', () => {
  const empty = { 'content-type': 'application/json' };

  test('does no harm to DELETE', async () => {
    for (const body of [undefined, '', '{}']) {
      const { process_id } = await gateway.start(['sleep', '60']);
      const reply = await gateway.fetch(`/processes/${process_id}`, {
        method: 'DELETE',
        headers: empty,
        ...(body === undefined ? {} : { body }),
      });
      expect([body, reply.status, await reply.json()]).toEqual([body, 200, { running: true }]);
    }
  });

  test.each([
    ['signal', 'signal'],
    ['resize', 'cols'],
    ['stdin', 'chunk'],
  ])('names the field that a POST to %s lacks', async (call, field) => {
    const { process_id } = await gateway.start(['cat'], { tty: true });
    for (const body of [undefined, '', '{}']) {
      const init = { method: 'POST', headers: empty, ...(body === undefined ? {} : { body }) };
      const reply = await gateway.fetch(`/processes/${process_id}/${call}`, init);
      expect([body, reply.status, await problemOf(reply)]).toMatchObject([body, 400, { code: 'invalid_request', field }]);
    }
  });

  test('names argv for a start', async () => {
    for (const path of ['/processes', '/run']) {
      const reply = await gateway.fetch(path, { method: 'POST', headers: empty });
      expect([reply.status, await problemOf(reply)]).toMatchObject([400, { code: 'invalid_request', field: 'argv' }]);
    }
  });

  test('is enough to close an input', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const reply = await gateway.fetch(`/processes/${process_id}/stdin?eof=true`, { method: 'POST', headers: empty });
    expect([reply.status, await reply.json()]).toEqual([200, { accepted: true, accepted_bytes: 0 }]);
    const info = await (await gateway.fetch(`/processes/${process_id}?wait_ms=20000`)).json();
    expect(info).toMatchObject({ exit_code: 0 });
  });
});

describe('B36 malformed JSON', () => {
  test.each([
    ['cut off', '{"argv":["ls"]'],
    ['a comma too many', '{"argv":["ls"],}'],
    ['no JSON at all', 'argv=ls'],
    ['two values', '{"argv":["ls"]}{}'],
    ['a lone surrogate escape that is not closed', '"\\ud8'],
    ['__proto__', '{"argv":["ls"],"__proto__":{"tty":true}}'],
    ['constructor.prototype', '{"argv":["ls"],"constructor":{"prototype":{}}}'],
  ])('%s is 400 with a code', async (_kind, body) => {
    const reply = await gateway.fetch('/processes', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect([reply.status, await problemOf(reply)]).toMatchObject([400, { code: expect.stringMatching(/^invalid_(json|request)$/) }]);
    expect(await gateway.list()).toEqual([]);
  });

  test('bytes that are not UTF-8 are refused, not replaced', async () => {
    const body = Buffer.from('{"argv":["echo","\xff"]}', 'latin1');
    const reply = await gateway.fetch('/processes', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect([reply.status, (await problemOf(reply)).code]).toEqual([400, 'invalid_json']);
  });

  test('depth and size cost no more than a refusal', async () => {
    const deep = `{"argv":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const wide = `{"argv":["ls"],${Array.from({ length: 50_000 }, (_, i) => `"k${i}":1`).join(',')}}`;
    for (const body of [deep, wide]) {
      const reply = await gateway.fetch('/processes', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      expect(reply.status).toBe(400);
      expect((await reply.text()).length).toBeLessThan(2000);
    }
  });
});
