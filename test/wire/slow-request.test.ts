import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { InProcessGateway } from './in-process-gateway.js';
import { RawConnection, requestText } from './raw-connection.js';

test('a body that does not arrive in time is told so, and holds nothing any more', async () => {
  await using gateway = await InProcessGateway.open({ body_timeout_ms: 500 });
  const headers = [`Host: 127.0.0.1:${gateway.port}`, 'Content-Type: application/json', 'Content-Length: 1000000'];
  const connection = await RawConnection.open(gateway.port);
  connection.send(requestText('POST /run HTTP/1.1', headers, '{"argv":'));
  const trickle = setInterval(() => connection.send(' '), 200);
  const begun = performance.now();
  const reply = await connection.reply();
  clearInterval(trickle);
  expect(performance.now() - begun).toBeLessThan(12_000);
  expect([reply?.status, JSON.parse(reply?.body ?? '{}').code]).toEqual([408, 'request_timeout']);
  await connection.untilClosed();
  expect(await gateway.inFlight()).toBe(0);
});

/** A start of which the last part is still missing. */
function late(port: number): { first: string; rest: string } {
  const body = '{"argv":["sleep","60"]}';
  const headers = [`Host: 127.0.0.1:${port}`, 'Content-Type: application/json', `Content-Length: ${body.length}`];
  return { first: requestText('POST /processes HTTP/1.1', headers, body.slice(0, 8)), rest: body.slice(8) };
}

test('what was refused for its time starts nothing when the rest comes after all, and the connection goes on', async () => {
  await using gateway = await InProcessGateway.open({ body_timeout_ms: 300 });
  const { first, rest } = late(gateway.port);
  const connection = await RawConnection.open(gateway.port);
  expect((await connection.send(first).reply())?.status).toBe(408);
  connection.send(rest + requestText('GET /processes HTTP/1.1', [`Host: 127.0.0.1:${gateway.port}`]));
  expect(await connection.until((text) => text.includes('"processes":[]'))).toBe(true);
  connection.destroy();
});

test('one that falls silent and never closes is closed, whole requests and files alike', async () => {
  await using gateway = await InProcessGateway.open({ body_timeout_ms: 300 });
  const file = requestText(
    `PUT /fs/file?path=${encodeURIComponent(join(tmpdir(), randomUUID()))} HTTP/1.1`,
    [`Host: 127.0.0.1:${gateway.port}`, 'Content-Length: 100'],
    'half',
  );
  for (const text of [late(gateway.port).first, file]) {
    const connection = await RawConnection.open(gateway.port);
    connection.socket.allowHalfOpen = true;
    expect((await connection.send(text).reply())?.status).toBe(408);
    await once(connection.socket, 'end');
    const writes = setInterval(() => connection.send('x'), 20);
    await connection.untilClosed(); // by a reset: nobody is there to take it
    clearInterval(writes);
  }
  expect(await gateway.inFlight()).toBe(0);
});
