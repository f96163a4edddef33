import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CodexClient } from '../support/codex-client.js';
import { useCodex } from './use-codex.js';

const codex = useCodex();

/** Sends bytes as they are, and gives what comes back with id -1. */
async function refused(client: CodexClient, data: string | Buffer): Promise<number | undefined> {
  const before = client.messages.length;
  client.socket.send(data);
  await client.find('a refusal', (message) => client.messages.indexOf(message) >= before && message.id === -1);
  return client.messages.findLast(({ id }) => id === -1)?.error?.code;
}

describe('what is no message', () => {
  test.each([
    ['broken JSON', '{oops'],
    ['an array', '[]'],
    ['a batch', '[{"id":1,"method":"environment/status"}]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['nothing', ''],
    ['id null', '{"id":null,"method":"environment/status"}'],
    ['id a fraction', '{"id":1.5,"method":"environment/status"}'],
    ['no method', '{"id":1}'],
    ['method a number', '{"id":1,"method":5}'],
    ['deep nesting', `{"id":1,"method":"x","params":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['more values than any message needs', `{"id":1,"method":"x","params":[${'1,'.repeat(200_000)}1]}`],
  ])('%s is refused, and the connection lives', async (_what, text) => {
    await using client = await codex.ready();
    expect(await refused(client, text)).toBe(-32600);
    expect(await client.result('environment/status')).toEqual({ status: 'ready' });
  });

  test('bytes that are no text are refused, bytes that are a message are one', async () => {
    await using client = await codex.ready();
    expect(await refused(client, Buffer.from([0xff, 0xfe, 0x7b]))).toBe(-32600);
    client.socket.send(Buffer.from('{"jsonrpc":"2.0","id":"text","method":"environment/status","params":{}}'));
    expect((await client.answer('text')).result).toEqual({ status: 'ready' });
  });

  test.each([
    ['an answer to nothing', '{"id":7,"result":{}}'],
    ['an unknown notification', '{"method":"no/such"}'],
  ])('%s ends the connection', async (_what, text) => {
    await using client = await codex.ready();
    client.socket.send(text);
    expect((await client.ended()).code).toBe(1002);
  });

  test('initialized before initialize ends the connection', async () => {
    await using client = await codex.open();
    client.notify('initialized', {});
    expect((await client.ended()).code).toBe(1002);
  });
});

describe('the order of things', () => {
  test('what is wrong with params comes before what is wrong with the order', async () => {
    await using client = await codex.open();
    expect(await client.code('process/read', {})).toBe(-32602);
    expect(await client.code('process/read', { processId: 'x' })).toBe(-32600);
    expect(await client.code('no/such', {})).toBe(-32601);
    expect(await client.code('fs/readFile', { path: '/native' })).toBe(-32602);
    expect(await client.code('initialize', {})).toBe(-32602);
    expect(await client.code('initialize', { clientName: 'x' })).toBe(0);
    expect(await client.code('environment/info')).toBe(-32600);
    expect(await client.code('initialize', { clientName: 'x' })).toBe(-32600);
    client.notify('initialized', {});
    expect((await client.result('environment/info', {})).shell.path).toMatch(/^\//);
    expect(await client.code('environment/info', { a: 1 })).toBe(-32602);
  });

  test('all at once without waiting for answers', async () => {
    await using client = await codex.open();
    const send = (message: object) => client.socket.send(JSON.stringify(message));
    send({ id: 1, method: 'initialize', params: { clientName: 'x' } });
    send({ method: 'initialized', params: {} });
    send({
      id: 2,
      method: 'process/start',
      params: { processId: 'p', argv: ['cat'], cwd: 'file:///tmp', env: { PATH: '/bin' }, tty: false, pipeStdin: true },
    });
    send({ id: 3, method: 'process/write', params: { processId: 'p', chunk: 'aGk=', writeId: 'a' } });
    send({ id: 4, method: 'process/read', params: { processId: 'p', waitMs: 10_000 } });
    expect((await client.answer(3)).result).toEqual({ status: 'accepted' });
    expect((await client.answer(4)).result.chunks[0].chunk).toBe('aGk=');
  });
});

test('whatever is sent as params, there is an answer with a code of the protocol', async () => {
  await using client = await codex.ready();
  const methods = [
    ...['process/start', 'process/read', 'process/write', 'process/signal', 'process/terminate', 'environment/info', 'http/request'],
    ...[
      'readFile',
      'writeFile',
      'createDirectory',
      'getMetadata',
      'canonicalize',
      'readDirectory',
      'walk',
      'copy',
      'open',
      'readBlock',
    ].map((name) => `fs/${name}`),
    ...['fs/writeBlock', 'fs/close', 'fs/watchMissing'],
  ];
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('file:///nowhere/at/all', 'file:///tmp/../..//x%00', 'aGk=', '', -1, 1e99, null, [], ['\u0000'], { type: 'managed' }),
  );
  const names = [
    'processId',
    'argv',
    'cwd',
    'env',
    'tty',
    'path',
    'options',
    'handleId',
    'offset',
    'len',
    'chunk',
    'writeId',
    'sandbox',
    'url',
    'method',
    'headers',
    'requestId',
    'missing',
    'watchId',
    'dataBase64',
  ];
  const params = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 12 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...methods), fc.oneof(params, fc.jsonValue()), async (method, sent) => {
      const { result, error } = await client.call(method, sent);
      expect(
        result !== undefined || [-32600, -32601, -32602, -32603, -32004].includes(error?.code ?? 0),
        JSON.stringify({ method, sent, error }),
      ).toBe(true);
      expect(error?.message).not.toBe('The gateway failed.');
    }),
    { numRuns: 400 },
  );
  expect(await client.result('environment/status')).toEqual({ status: 'ready' });
});
