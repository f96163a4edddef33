import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { useCodex } from './use-codex.js';

const codex = useCodex();
let server: Server;
let url = '';
let open = 0;
let sockets = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    open++;
    response.on('close', () => open--);
    if (request.url === '/redirect') return response.writeHead(302, { location: '/echo' }).end('moved');
    if (request.url === '/keep') return response.writeHead(307, { location: '/echo' }).end();
    if (request.url === '/away') return response.writeHead(302, { location: `${url.replace('127.0.0.1', 'localhost')}/echo` }).end();
    if (request.url === '/round') return response.writeHead(302, { location: '/round' }).end();
    if (request.url === '/zip') return response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('unpacked'));
    if (request.url === '/never') return undefined;
    if (request.url === '/endless-redirect') {
      response.writeHead(302, { location: '/echo' });
      return void response.write('and no end');
    }
    if (request.url === '/endless') {
      const more = () => response.destroyed || response.write(Buffer.alloc(64 * 1024, 'x'), () => setImmediate(more));
      more();
      return undefined;
    }
    let body = '';
    request.on('data', (bytes) => (body += bytes));
    request.on('end', () =>
      response.writeHead(200, { 'X-Twice': ['1', '2'] }).end(JSON.stringify({ method: request.method, headers: request.headers, body })),
    );
    return undefined;
  });
  server.on('connection', (socket) => {
    sockets++;
    socket.on('close', () => sockets--);
  });
  server.on('connect', (_request, socket) =>
    socket
      .on('end', () => socket.destroy())
      .resume()
      .write('HTTP/1.1 200 OK\r\n\r\n'),
  );
  await new Promise<void>((resolve) => server.listen(0, resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const ask = (path: string, rest: object = {}) => ({ method: 'GET', url: url + path, requestId: path, headers: [], ...rest });
const textOf = ({ bodyBase64 }: { bodyBase64: string }) => Buffer.from(bodyBase64, 'base64').toString();

describe('http/request', () => {
  test('sends what it is given and tells what comes back', async () => {
    await using client = await codex.ready();
    const headers = [
      { name: 'A', value: '1' },
      { name: 'a', value: '2' },
      { name: 'Content-Length', value: '99' },
    ];
    const answer = await client.result('http/request', ask('/echo', { method: 'POST', headers, bodyBase64: 'aGk=' }));
    expect(answer.status).toBe(200);
    expect(answer.headers.filter(({ name }: { name: string }) => name === 'x-twice')).toEqual([
      { name: 'x-twice', value: '1' },
      { name: 'x-twice', value: '2' },
    ]);
    const seen = JSON.parse(textOf(answer));
    expect(seen).toMatchObject({ method: 'POST', body: 'hi' });
    expect(seen.headers.a).toBe('1, 2');
  });

  test('follows redirects, or not', async () => {
    await using client = await codex.ready();
    const secret = { headers: [{ name: 'Authorization', value: 'Bearer x' }], method: 'POST', bodyBase64: 'aGk=' };
    expect(JSON.parse(textOf(await client.result('http/request', ask('/redirect', secret))))).toMatchObject({
      method: 'GET',
      body: '',
      headers: { authorization: 'Bearer x' },
    });
    expect(JSON.parse(textOf(await client.result('http/request', ask('/keep', secret))))).toMatchObject({ method: 'POST', body: 'hi' });
    expect(JSON.parse(textOf(await client.result('http/request', ask('/away', secret)))).headers.authorization).toBeUndefined();
    const stopped = await client.result('http/request', ask('/redirect', { redirectPolicy: 'stop' }));
    expect([stopped.status, textOf(stopped)]).toEqual([302, 'moved']);
    expect(await client.code('http/request', ask('/round'))).toBe(-32603);
  });

  test('unpacks a body', async () => {
    await using client = await codex.ready();
    const answer = await client.result('http/request', ask('/zip'));
    expect(textOf(answer)).toBe('unpacked');
    expect(answer.headers.some(({ name }: { name: string }) => name === 'content-encoding')).toBe(false);
  });

  test('streams a body in numbered pieces', async () => {
    await using client = await codex.ready();
    const answer = await client.result('http/request', ask('/zip', { streamResponse: true }));
    expect(answer.bodyBase64).toBe('');
    await client.find('the end of the body', ({ method, params }) => method === 'http/request/bodyDelta' && params.done);
    const deltas = client.messages.filter(({ method }) => method === 'http/request/bodyDelta').map(({ params }) => params);
    expect(deltas.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(Buffer.from(deltas[0].deltaBase64, 'base64').toString()).toBe('unpacked');
    expect(deltas[1]).toEqual({ requestId: '/zip', seq: 2, deltaBase64: '', done: true, error: null });
  });

  test('ends when its time is over, its body too large, its client gone', async () => {
    const client = await codex.ready();
    expect(await client.code('http/request', ask('/never', { timeoutMs: 100 }))).toBe(-32603);
    expect(await client.code('http/request', ask('/endless'))).toBe(-32603);
    await client.result('http/request', ask('/endless', { streamResponse: true }));
    client.call('http/request', ask('/never')).catch(() => {}); // it is never answered
    client.cut();
    await until('nothing is asked any more', () => open === 0);
    expect(open).toBe(0);
  });

  test.each([
    ['a redirect whose body never ends', () => ask('/endless-redirect'), 200],
    ['an answer that changes the protocol', () => ask('/x', { method: 'CONNECT' }), -32603],
    ['a header that cannot be sent', () => ask('/x', { headers: [{ name: 'trailer', value: 'x' }] }), -32603],
  ])('%s leaves no connection behind', async (_what, asked, answer) => {
    await using client = await codex.ready();
    const told = answer === 200 ? (await client.result('http/request', asked())).status : await client.code('http/request', asked());
    expect(told).toBe(answer);
    await until('no connection is left', () => sockets === 0);
  });

  test.each([
    ['port 0', { url: 'http://127.0.0.1:0/' }, -32602],
    ['another scheme', { url: 'ftp://127.0.0.1/' }, -32602],
    ['no URL', { url: 'x' }, -32602],
    ['a method that is none', { method: 'G T' }, -32602],
    ['a header that is none', { headers: [{ name: 'a b', value: '' }] }, -32602],
    ['a line break in a header', { headers: [{ name: 'a', value: 'x\r\ny: z' }] }, -32602],
    ['a policy that is none', { redirectPolicy: 'maybe' }, -32602],
    ['nobody who answers', { url: 'http://127.0.0.1:9/' }, -32603],
  ])('%s is refused', async (_what, rest, code) => {
    await using client = await codex.ready();
    expect(await client.code('http/request', ask('/echo', rest))).toBe(code);
  });
});
