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
