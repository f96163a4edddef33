import { type IncomingMessage, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { InProcessGateway } from './in-process-gateway.js';
import { RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();
const head = (...more: string[]) => [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization, ...more];
const POST = (path: string, body: string) =>
  requestText(`POST ${path} HTTP/1.1`, head('Content-Type: application/json', `Content-Length: ${body.length}`), body);

/** Sends a request and closes the sending side, as `nc -N` does. */
async function sendHalf(text: string, port = gateway.port): Promise<RawConnection> {
  const connection = await RawConnection.open(port);
  connection.send(text).socket.end();
  return connection;
}

describe('a caller that closes its sending side after the request is answered', () => {
  test.each([
    ['a run', () => POST('/run', '{"argv":["echo","hi"]}'), 200, '"stdout":"hi\\n"'],
    ['a start', () => POST('/processes', '{"argv":["true"]}'), 201, '"process_id"'],
    ['a run that takes its time', () => POST('/run', '{"argv":["sh","-c","sleep 1; echo hi"]}'), 200, '"stdout":"hi\\n"'],
    ['a run by HTTP/1.0', () => POST('/run', '{"argv":["sh","-c","sleep 1; echo hi"]}').replace('1.1', '1.0'), 200, '"stdout":"hi\\n"'],
    ['a fault', () => POST('/run', '{"argv":"x"}'), 400, 'invalid_request'],
  ])('%s', async (_what, text, status, body) => {
    const connection = await sendHalf(text());
    expect(await connection.untilClosed()).toBe(true);
    const reply = await connection.reply();
    expect([reply?.status, reply?.body]).toEqual([status, expect.stringContaining(body)]);
    expect(connection.received.match(/HTTP\/1\.1 (?!100)/g)).toHaveLength(1);
  });

  test('quick replies come without an interim one, and HTTP/1.0 never gets one', async () => {
    for (const text of [requestText('GET /healthz HTTP/1.1', head()), POST('/run', '{"argv":["sleep","1"]}').replace('1.1', '1.0')]) {
      const connection = await sendHalf(text);
      await connection.untilClosed();
      expect(connection.received).toMatch(/^HTTP\/1\.1 200 /);
    }
  });

  test('every request of a pipeline', async () => {
    const connection = await sendHalf(POST('/run', '{"argv":["sleep","0.3"]}') + POST('/run', '{"argv":["true"]}'));
    await connection.untilClosed();
    expect(connection.received.match(/"exit_code":0/g)).toHaveLength(2);
  });

  test('a long-poll, when there is news', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const poll = await sendHalf(requestText(`GET /processes/${process_id}/output?wait_ms=30000&encoding=utf8 HTTP/1.1`, head()));
    await poll.until((text) => text.includes('100 Continue'));
    await gateway.send('POST', `/processes/${process_id}/stdin`, { text: 'news', eof: true });
    expect(await poll.untilClosed()).toBe(true);
    expect([(await poll.reply())?.status, (await poll.reply())?.body]).toEqual([200, expect.stringContaining('"chunk":"news"')]);
  });

  test.each(['/output?follow=true', '/events'])('a stream to its end: %s', async (path) => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo one; read x; echo two'], { pipe_stdin: true });
    const reply = await getHalf(`/processes/${process_id}${path}`);
    let text = '';
    reply.setEncoding('utf8').on('data', (more) => {
      text += more;
    });
    const begun = performance.now();
    await until('it was asked at least twice whether it is there', () => performance.now() - begun > 700);
    await gateway.send('POST', `/processes/${process_id}/stdin`, { text: '\n' });
    await until('the stream is over', () => reply.readableEnded);
    expect(reply.complete).toBe(true);
    const output = path === '/events' ? [...text.matchAll(/"chunk":"(.*?)"/g)].map(([, chunk]) => atob(chunk as string)).join('') : text;
    expect(output).toBe('one\ntwo\n');
  });
});

test('a caller that closes its sending side and leaves later is noticed', async () => {
  await using quiet = await InProcessGateway.open({ heartbeat_ms: 3_600_000 });
  const process_id = await quiet.sleeper();
  const lines = [`Host: 127.0.0.1:${quiet.port}`];
  const paths = ['/events', '/output?follow=true', '/output?wait_ms=60000'].map((path) => `/processes/${process_id}${path}`);
  const callers = await Promise.all(paths.map((path) => sendHalf(requestText(`GET ${path} HTTP/1.1`, lines), quiet.port)));
  await Promise.all(callers.map((caller) => caller.until((text) => /100 Continue|\r\n\r\n0/.test(text))));
  expect(quiet.waiting(process_id)).toBe(3);
  for (const caller of callers) caller.destroy();
  await until('nobody waits', () => quiet.waiting(process_id) === 0, 10_000);
  expect(await quiet.inFlight()).toBe(0);
});

/** Begins a request by Node's client, which takes replies apart strictly, and closes the sending side. */
function getHalf(path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request(gateway.server.url + path, { headers: { authorization: `Bearer ${gateway.server.token}` }, agent: false });
    asked.on('response', resolve).on('error', reject);
    asked.on('finish', () => asked.socket?.end());
    asked.end();
  });
}
