import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { exchange, RawConnection, type RawReply, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();

afterEach(async () => {
  expect((await gateway.fetch('/healthz')).status, 'the gateway is well').toBe(200);
});

const own = () => [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization];
const START = '{"argv":["true"]}';
const json = (body: string) => ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];

/** A reply in the form of all errors, never a 5xx. */
function expectProblem(reply: RawReply | null, status: number | number[], code?: string): void {
  expect([status].flat()).toContain(reply?.status);
  expect(reply?.headers['content-type']).toBe('application/problem+json');
  const problem = JSON.parse(reply?.body ?? '');
  expect(problem).toMatchObject({ status: reply?.status, code: code ?? expect.any(String), detail: expect.any(String) });
}

describe('what is not HTTP', () => {
  test.each([
    ['text', 'hello\r\n\r\n'],
    ['TLS', Buffer.from('16030100c2010000be0303', 'hex')],
    ['SSH', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['zeros', Buffer.alloc(100)],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n'],
    ['a header with a space', 'GET / HTTP/1.1\r\nHo st: x\r\n\r\n'],
    ['a bare line feed in a header', 'GET / HTTP/1.1\nHost: x\rY: z\n\n'],
    ['an unknown method', 'BREW /processes HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a lower-case method', 'get /processes HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a version that is not', 'GET / HTTP/3.7\r\nHost: x\r\n\r\n'],
    ['a length that is no number', 'POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n'],
    ['a negative length', 'POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n'],
    ['two lengths', 'POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!'],
    ['length and chunks', 'POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('%s is 400 and the end of the connection', async (_kind, text) => {
    const connection = await RawConnection.open(gateway.port);
    const reply = await connection.send(text).reply();
    expectProblem(reply, 400, 'invalid_request');
    expect(reply?.headers.connection).toBe('close');
    await connection.untilClosed();
    expect(connection.received.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  });

  test('any bytes are answered by a 4xx or by silence, never by a 5xx', async () => {
    const line = fc.constantFrom(
      'GET / HTTP/1.1',
      'POST /processes HTTP/1.1',
      'PUT /processes/\x00 HTTP/1.1',
      'GET /%00%ff HTTP/1.1',
      '\x16\x03\x01',
      'A',
    );
    const text = fc.string({ unit: 'binary-ascii', maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(line, fc.array(text, { maxLength: 4 }), text, async (first, headers, body) => {
        const connection = await RawConnection.open(gateway.port);
        connection.send(requestText(first, headers, body));
        connection.socket.end();
        await connection.untilClosed();
        for (const [, status] of connection.received.matchAll(/HTTP\/1\.1 (\d+)/g)) expect(Number(status)).toBeLessThan(500);
      }),
      { numRuns: 300 },
    );
  });
});

describe('addresses', () => {
  test.each(['/%', '/%zz', '/processes/%E0%A4%A', '/processes/%ff', '/%c0%af', '/processes/%c3%28/output'])('%s is 400', async (path) => {
    expectProblem(await exchange(gateway.port, requestText(`GET ${path} HTTP/1.1`, own())), 400, 'invalid_request');
  });

  test.each([
    '/processes/..%2f..%2fetc%2fpasswd',
    '/processes/%2e%2e',
    '/processes/a%00b',
    '/processes/%0d%0aX-Injected:%20yes',
    '/processes/a%20b/output',
    '/processes//output',
    '/processes/../../etc/passwd',
    '//processes',
    '/PROCESSES',
    '/processes/',
    '/processes;x=1',
    '/__proto__',
    '/processes/constructor',
  ])('%s is 404, whatever it would decode to', async (path) => {
    const reply = await exchange(gateway.port, requestText(`GET ${path} HTTP/1.1`, own()));
    expectProblem(reply, 404);
    expect(reply?.headers['x-injected']).toBeUndefined();
  });

  test('a long part is 414, a long address 431', async () => {
    const get = (path: string) => exchange(gateway.port, requestText(`GET ${path} HTTP/1.1`, own()));
    expectProblem(await get(`/processes/${'x'.repeat(600)}`), 414, 'uri_too_long');
    expectProblem(await get(`/processes/${'x'.repeat(20_000)}`), 431, 'headers_too_large');
    expectProblem(await get(`/processes?label=${'x'.repeat(8000)}`), 400);
  });
});

describe('headers', () => {
  test('too large or too many are refused, and the server goes on', async () => {
    const get = (lines: string[]) => exchange(gateway.port, requestText('GET /processes HTTP/1.1', [...own(), ...lines]));
    expectProblem(await get([`X-Big: ${'x'.repeat(17_000)}`]), 431, 'headers_too_large');
    expectProblem(await get(Array.from({ length: 3000 }, (_, i) => `X-${i}: y`)), 431, 'headers_too_large');
    expect((await get(Array.from({ length: 200 }, (_, i) => `X-${i}: y`)))?.status).toBe(200);
  });

  test('doubled ones are taken or refused, not crashed on', async () => {
    const { process_id } = await gateway.start(['true']);
    const get = (path: string, lines: string[]) => exchange(gateway.port, requestText(`GET ${path} HTTP/1.1`, [...own(), ...lines]));
    expectProblem(await get(`/processes/${process_id}/events`, ['Last-Event-ID: 1', 'Last-Event-ID: 1']), 400, 'invalid_cursor');
    expect((await get('/processes', ['Accept: text/plain', 'Accept: application/json']))?.status).toBe(200);
    const twice = requestText('POST /processes HTTP/1.1', [...own(), ...json(START), 'Content-Type: text/plain'], START);
    expect([201, 400, 415]).toContain((await exchange(gateway.port, twice))?.status);
  });

  test('a request id of the caller is taken when it is a word, and never a way to write headers or log lines', async () => {
    for (const [id, kept] of [
      ['abc-1.2_3', true],
      ['x'.repeat(65), false],
      ['with space', false],
      ['"quoted"', false],
      ['\xe9', false],
    ] as const) {
      const reply = await exchange(gateway.port, requestText('GET /healthz HTTP/1.1', [...own(), `X-Request-Id: ${id}`]));
      expect(reply?.headers['x-request-id'] === id).toBe(kept);
    }
  });
});

describe('bodies on the wire', () => {
  test('Expect: 100-continue gets its 100 and then the reply; another expectation is 417', async () => {
    const connection = await RawConnection.open(gateway.port);
    connection.send(requestText('POST /processes HTTP/1.1', [...own(), ...json(START), 'Expect: 100-continue']));
    await connection.until((text) => text.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
    expect((await connection.send(START).reply())?.status).toBe(201);
    connection.destroy();
    const odd = requestText('POST /processes HTTP/1.1', [...own(), ...json(START), 'Expect: a-miracle'], START);
    expectProblem(await exchange(gateway.port, odd), 417, 'expectation_failed');
  });

  test('chunks of any cut make the same body', async () => {
    const chunked = [...own(), 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
    for (const size of [1, 3, 100]) {
      const parts = START.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      const body = `${parts.map((part) => `${part.length.toString(16)};ext=1\r\n${part}\r\n`).join('')}0\r\nTrailer: x\r\n\r\n`;
      expect((await exchange(gateway.port, requestText('POST /processes HTTP/1.1', chunked, body)))?.status).toBe(201);
    }
    for (const bad of ['zz\r\nx\r\n0\r\n\r\n', '5\r\nabcdefgh\r\n0\r\n\r\n', '-1\r\n\r\n', 'ffffffffffffffffff\r\nx']) {
      expectProblem(await exchange(gateway.port, requestText('POST /processes HTTP/1.1', chunked, bad)), 400);
    }
  });

  test('a transfer coding that is not known is 400', async () => {
    const lines = [...own(), 'Content-Type: application/json', 'Transfer-Encoding: gzip'];
    expectProblem(await exchange(gateway.port, requestText('POST /processes HTTP/1.1', lines, 'x')), 400, 'invalid_request');
  });

  test('a body that breaks off starts nothing', async () => {
    const before = (await gateway.list()).length;
    const connection = await RawConnection.open(gateway.port);
    connection.send(requestText('POST /processes HTTP/1.1', [...own(), 'Content-Type: application/json', 'Content-Length: 500'], START));
    connection.socket.end();
    await connection.untilClosed();
    expect(connection.received).not.toContain('HTTP/1.1 2');
    expect(await gateway.list()).toHaveLength(before);
  });

  test('HTTP/1.0 is answered and closed', async () => {
    const connection = await RawConnection.open(gateway.port);
    await connection.send(requestText('GET /processes HTTP/1.0', own())).untilClosed();
    expect(connection.received).toMatch(/^HTTP\/1\.1 200 /);
    expect(connection.received).toMatch(/"processes":\[\]/);
  });

  test('requests sent in one go are answered in order', async () => {
    const connection = await RawConnection.open(gateway.port);
    const paths = ['/healthz', '/no/such', '/processes', '/%zz', '/readyz'];
    connection.send(paths.map((path) => requestText(`GET ${path} HTTP/1.1`, own())).join(''));
    await connection.until((text) => (text.match(/HTTP\/1\.1 \d/g) ?? []).length === paths.length && text.includes('"ready"'));
    connection.destroy();
    expect([...connection.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '404', '200', '400', '200']);
  });

  test('an upgrade to what is not there is an ordinary request', async () => {
    const lines = [
      ...own(),
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
    ];
    const reply = await exchange(gateway.port, requestText('GET /processes HTTP/1.1', lines));
    expect(reply?.status).toBeLessThan(500);
    expect(reply?.status).not.toBe(101);
  });
});

describe('what is no request behind a reply that is on its way', () => {
  test.each(['HTTP/1.0', 'HTTP/1.1'])('breaks it off, and is not answered inside it: %s', async (version) => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo shown; exec sleep 60']);
    const connection = await RawConnection.open(gateway.port);
    connection.send(requestText(`GET /processes/${process_id}/output?follow=true ${version}`, own()));
    await connection.until((text) => text.includes('shown'));
    connection.send('this is no request\r\n\r\n');
    await connection.untilClosed();
    expect(connection.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(connection.received).not.toContain('invalid_request');
  });
});

test('HTTP/1.0 has no interim answers: an expectation is passed over', async () => {
  for (const expectation of ['Expect: 100-continue', 'Expect: something-else']) {
    const connection = await RawConnection.open(gateway.port);
    connection.send(requestText('POST /run HTTP/1.0', [...own(), ...json(START), expectation], START));
    await connection.untilClosed();
    expect(connection.received).toMatch(/^HTTP\/1\.1 200 /);
  }
});
