import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Gateway, GatewayError, RemoteExecProcess, RemoteFileSystem } from '../../src/client/index.js';
import { ERRORS, type ErrorCode } from '../../src/protocol/error.js';
import { StubGateway, sendProblem, startEvents } from '../support/stub-gateway.js';

const unreachable = { name: 'GatewayError', code: 'upstream_unreachable' };

describe('errors', () => {
  test('each code of the table comes back as it was thrown', async () => {
    const codes = Object.keys(ERRORS) as ErrorCode[];
    await using stub = await StubGateway.open((call) => {
      const code = call.request.url!.split('/').at(-1) as ErrorCode;
      sendProblem(call, code, `detail of ${code}`);
    });
    const processes = new RemoteExecProcess({ url: stub.url });
    for (const code of codes) {
      const error = await processes.get(code).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(GatewayError);
      expect(error).toMatchObject({ code, message: `detail of ${code}`, status: ERRORS[code][0] });
    }
  });

  test('of a unix socket says where it can be given, and what to give here', () => {
    const detail = 'url names a unix socket, which only the command line takes: give http://localhost, and a fetch that calls the socket.';
    expect(() => new Gateway({ url: 'unix:/run/gateway.sock' })).toThrow(detail);
  });

  test.each([
    [502, 'text/html', '<h1>Bad gateway</h1>'],
    [404, 'text/plain', 'not found'],
    [401, 'application/json', '{"error":"no"}'],
    [500, 'application/problem+json', '{"type":"about:blank"}'],
    [500, 'application/problem+json', 'not JSON'],
    [200, 'text/html', '<h1>Welcome to the hotel</h1>'],
    [204, 'text/plain', ''],
    [302, 'text/plain', ''],
  ])('%d %s is not the word of a gateway', async (status, type, body) => {
    await using stub = await StubGateway.open(({ response }) => {
      response.writeHead(status, { 'content-type': type, location: '/elsewhere' }).end(body);
    });
    const processes = new RemoteExecProcess({ url: stub.url });
    await expect(processes.get('p')).rejects.toMatchObject(unreachable);
    if (status !== 204) await expect(processes.follow('p')).rejects.toMatchObject(unreachable);
    if (status !== 204) await expect(processes.signal('p', { signal: 'TERM' })).rejects.toMatchObject(unreachable);
    expect(stub.queries.length).toBeLessThan(4);
  });

  test.each(['{}', '{"chunks":[{"seq":1,"stream":"stdout","chunk":"a"}]}', '{"stdout":"a*==","stderr":""}'])('nor is %s', async (body) => {
    await using stub = await StubGateway.open(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
    const processes = new RemoteExecProcess({ url: stub.url });
    await expect(processes.read('p')).rejects.toMatchObject(unreachable);
    await expect(processes.run({ argv: ['true'] })).rejects.toMatchObject(unreachable);
  });

  test('a gateway that is not there: the cause is kept', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const error = await new Gateway({ url: `http://127.0.0.1:${port}`, token: 'very-secret' }).list().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ ...unreachable, cause: expect.any(TypeError), message: expect.stringContaining('ECONNREFUSED') });
    expect(String((error as Error).message)).not.toContain('very-secret');
  });

  test('one that was never reached is told of after 5 s, by a read of a file as by a start; one that was, later', async () => {
    await using stub = await StubGateway.open(({ response }) => response.destroy());
    const gateway = new Gateway({ url: stub.url, retry: { max_delay_ms: 50 } });
    const began = performance.now();
    const calls = [gateway.start(['true']), gateway.files.write('f', 'text'), gateway.files.readText('f'), gateway.files.readBytes('f')];
    for (const { reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ ...unreachable, message: expect.stringContaining(`The gateway at ${stub.url} cannot be reached`) });
    }
    expect(performance.now() - began).toBeGreaterThan(4_900);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test.each(['', 'nonsense', 'ftp://host', '/path', 'http://user:word@host', 'localhost:8787'])('the address %j is refused', (url) => {
    expect(() => new Gateway({ url })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });

  test.each(['', 'two words', 'newline\n', 'é'])('the token %j is refused, and not told', (token) => {
    expect(() => new Gateway({ url: 'http://host', token })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    expect(() => new Gateway({ url: 'http://host', token })).toThrow(/^((?!two words).)*$/s);
  });

  test.each(['', '.', '..'])('the id %j never becomes another address', async (process_id) => {
    await using stub = await StubGateway.open(({ response }) => response.end('{}'));
    const processes = new RemoteExecProcess({ url: stub.url });
    await expect(processes.terminate(process_id)).rejects.toMatchObject({ code: 'process_not_found' });
    await expect(processes.follow(process_id)).rejects.toMatchObject({ code: 'process_not_found' });
    await expect(processes.start({ argv: ['true'], process_id }, { once: true })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(stub.queries).toEqual([]);
  });

  test('ids of any kind stay one part of the path, below the prefix', async () => {
    const seen: (string | undefined)[] = [];
    await using stub = await StubGateway.open((call) => {
      seen.push(call.request.url);
      sendProblem(call, 'process_not_found');
    });
    const processes = new RemoteExecProcess({ url: `${stub.url}/a/b/` });
    for (const id of ['a/../b', 'ü?#%', '\ud800']) await expect(processes.get(id)).rejects.toMatchObject({ code: 'process_not_found' });
    expect(seen).toEqual(['/a/b/processes/a%2F..%2Fb', '/a/b/processes/%C3%BC%3F%23%25', '/a/b/processes/%EF%BF%BD']);
  });
});

describe('requests', () => {
  test('that stream follow no redirect either, and say so', async () => {
    await using stub = await StubGateway.open(({ request, response }) => {
      request.resume();
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    const files = new RemoteFileSystem({ url: stub.url });
    const body = (async function* () {
      yield Buffer.from('streamed');
    })();
    const told = { code: 'upstream_unreachable', message: expect.stringContaining('redirect') };
    await expect(files.writeFile({ path: 'f' }, body)).rejects.toMatchObject(told);
    await expect(files.getMetadata({ path: 'f' })).rejects.toMatchObject(told);
    expect(stub.queries).toHaveLength(2);
  });

  test('carry the headers that were given, and go through the fetch that was given', async () => {
    const seen: unknown[] = [];
    await using stub = await StubGateway.open((call) => {
      const { authorization, accept, 'x-proxy': proxy, 'content-type': type } = call.request.headers;
      seen.push([authorization, accept, proxy, type]);
      sendProblem(call, 'process_not_found');
    });
    let fetched = 0;
    const own: typeof fetch = (input, init) => {
      fetched++;
      return fetch(input, init);
    };
    const headers = { 'X-Proxy': 'pass', Authorization: 'Basic no', Accept: 'text/html' };
    const gateway = new Gateway({ url: stub.url, token: 'word', headers, fetch: own });
    await expect(gateway.get('p')).rejects.toMatchObject({ code: 'process_not_found' });
    await expect(gateway.follow('p').next()).rejects.toMatchObject({ code: 'process_not_found' });
    await expect(gateway.write('p', 'x')).rejects.toMatchObject({ code: 'process_not_found' });
    expect(seen).toEqual([
      ['Bearer word', 'application/json', 'pass', undefined],
      ['Bearer word', 'application/vnd.exec-gateway.events, text/event-stream;q=0.9', 'pass', undefined],
      ['Bearer word', 'application/json', 'pass', 'application/octet-stream'],
    ]);
    expect(fetched).toBe(3);
  });

  test.each([{ 'no good': 'x' }, { a: 'secret\nline' }])('headers that no request can carry are refused, and not told', (headers) => {
    expect(() => new Gateway({ url: 'http://host', headers })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    expect(() => new Gateway({ url: 'http://host', headers })).toThrow(/^((?!secret).)*$/s);
  });
});

describe('giving up', () => {
  const reason = new Error('I am leaving');

  test('a signal that is aborted already: nothing is sent', async () => {
    await using stub = await StubGateway.open(({ response }) => response.end('{}'));
    const signal = AbortSignal.abort(reason);
    const gateway = new Gateway({ url: stub.url });
    for (const call of [
      gateway.run(['true'], { signal }),
      gateway.start(['true'], { signal }),
      gateway.get('p', { signal }),
      gateway.wait('p', { signal }),
      gateway.list({ signal }),
      gateway.all({ signal }).next(),
      gateway.read('p', { signal }),
      gateway.follow('p', { signal }).next(),
      gateway.watch({ signal }).next(),
      gateway.write('p', 'x', { signal }),
      gateway.signal('p', 'TERM', { signal }),
      gateway.resize('p', { cols: 1, rows: 1 }, { signal }),
      gateway.terminate('p', { signal }),
    ]) {
      await expect(call).rejects.toBe(reason);
    }
    expect(stub.queries).toEqual([]);
  });

  test('100 calls on one signal, in flight and in their answers: all reject with its reason', async () => {
    let arrived = 0;
    const gone: Promise<unknown>[] = [];
    let all = () => {};
    const everyone = new Promise<void>((resolve) => {
      all = resolve;
    });
    await using stub = await StubGateway.open((call) => {
      gone.push(once(call.response, 'close'));
      if (arrived % 2 === 0) call.response.writeHead(200, { 'content-type': 'application/json' }).write('{"process_id":');
      if (++arrived === 100) all();
    });
    const gateway = new Gateway({ url: stub.url });
    const controller = new AbortController();
    const calls = Array.from({ length: 100 }, () => gateway.get('p', { wait_ms: 60_000, signal: controller.signal }));
    await everyone;
    controller.abort(reason);
    for (const { status, reason: why } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
      expect([status, why]).toEqual(['rejected', reason]);
    }
    await Promise.all(gone);
  });

  test('a follower that is aborted: its connection goes, and no other comes', async () => {
    let gone: Promise<unknown> = Promise.reject(new Error('nobody came'));
    gone.catch(() => {});
    await using stub = await StubGateway.open((call) => {
      startEvents(call);
      gone = once(call.response, 'close');
    });
    const controller = new AbortController();
    const { signal } = controller;
    const batches = await new RemoteExecProcess({ url: stub.url }).follow('p', {}, { signal });
    const pending = batches[Symbol.asyncIterator]().next();
    controller.abort(reason);
    expect(await pending).toEqual({ done: true, value: undefined });
    await gone;
    expect(stub.queries).toHaveLength(1);
  });

  test('a follower that is aborted between connections rejects with the reason', async () => {
    const controller = new AbortController();
    await using stub = await StubGateway.open((call) => {
      if (call.count > 2) controller.abort(reason);
      if (call.count === 0) startEvents(call).end();
      else sendProblem(call, 'shutting_down');
    });
    const gateway = new Gateway({ url: stub.url, retry: { first_delay_ms: 1 } });
    await expect(gateway.follow('p', { signal: controller.signal }).next()).rejects.toBe(reason);
  });

  test('leaving the loop ends the connection', async () => {
    let gone: Promise<unknown> = Promise.resolve();
    await using stub = await StubGateway.open((call) => {
      gone = once(call.response, 'close');
      startEvents(call).write('id: 1\nevent: output\ndata: {"seq":1,"stream":"stdout","chunk":""}\n\n');
    });
    for await (const event of new Gateway({ url: stub.url }).follow('p')) {
      expect(event).toMatchObject({ event: 'output', seq: 1 });
      break;
    }
    await gone;
  });
});
