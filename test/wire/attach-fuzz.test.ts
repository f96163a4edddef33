import { randomBytes, randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { AttachClient } from './attach-client.js';
import { RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();

/** Frames as a client masks them, whole or not, of any kind. */
function oddFrame(): Buffer {
  const payload = randomBytes(randomInt(200));
  const length = payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 0xff];
  const head = Buffer.from([randomInt(256), ...(randomInt(4) === 0 ? [randomInt(256)] : length)]);
  return Buffer.concat([head, randomBytes(4), payload]).subarray(0, randomInt(10) === 0 ? randomInt(1, 8) : undefined);
}

test('frames of any kind end a connection at most, and nothing else', async () => {
  const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
  const witness = await AttachClient.open(gateway, `/processes/${process_id}/attach?read_only=true`);
  for (let round = 0; round < 60; round++) {
    const connection = await RawConnection.open(gateway.port);
    const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
    const head = [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization, 'Connection: Upgrade', 'Upgrade: websocket', key];
    const protocol = round % 2 === 0 ? ['Sec-WebSocket-Protocol: exec-gateway.v1'] : [];
    connection.send(requestText(`GET /processes/${process_id}/attach HTTP/1.1`, [...head, 'Sec-WebSocket-Version: 13', ...protocol]));
    // What is sent together with the request may be answered by a reset, which takes the 101 with it.
    if (round % 3 > 0) expect(await connection.until((text) => text.startsWith('HTTP/1.1 101 ') && text.includes('\r\n\r\n'))).toBe(true);
    for (let i = 0; i < 20 && !connection.closed; i++) connection.send(oddFrame());
    connection.socket.end();
    await connection.untilClosed();
  }
  expect(witness.end).toBeNull();
  expect(await (await gateway.fetch(`/processes/${process_id}`)).json()).toMatchObject({ state: 'running' });
  witness.socket.terminate();
});

test('text of any kind is answered by an error, however much of it comes, and is not piled up for one that does not read', async () => {
  const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
  const viewer = await AttachClient.open(gateway, `/processes/${process_id}/attach`);
  await viewer.first('hello');
  const words = [
    '{"type":',
    '"resize"',
    '}',
    '{',
    '[',
    ']',
    '"cols":',
    '1e999',
    'null',
    ',',
    '"\\ud800"',
    '"__proto__":',
    '"type":"signal"',
  ];
  const flood = 5_000;
  for (let i = 0; i < flood; i++)
    viewer.socket.send(Array.from({ length: randomInt(1, 8) }, () => words[randomInt(words.length)]).join(' '));
  viewer.input(0, 'still\n');
  viewer.send({ type: 'eof' });
  await viewer.untilEnd();
  expect(viewer.text()).toBe('still\n');
  for (const { about } of viewer.all('error')) expect(['message', 'resize', 'signal']).toContain(about);
});
