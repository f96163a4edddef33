import { afterEach, expect, test } from 'vitest';
import { MAX_RECEIVING_BYTES } from '../../src/protocol/index.js';
import { rssBytes, until } from '../support/proc.js';
import { RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const MIB = 1024 * 1024;
const gateway = useGateway();
const open: RawConnection[] = [];

afterEach(() => {
  for (const connection of open.splice(0)) connection.destroy();
});

/** Sends 15 MiB of a body and then nothing. */
async function unfinished(path: string, framing: string, type = 'application/json'): Promise<RawConnection> {
  const connection = await RawConnection.open(gateway.port);
  open.push(connection);
  const headers = [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization, `Content-Type: ${type}`, framing];
  connection.send(requestText(`POST ${path} HTTP/1.1`, headers));
  if (framing.startsWith('Transfer')) connection.send(`${(15.5 * MIB).toString(16)}\r\n`);
  return connection.send(Buffer.alloc(15 * MIB, ' '));
}

test.each([
  ['/processes', `Content-Length: ${15.5 * MIB}`],
  ['/run', 'Transfer-Encoding: chunked'],
])('30 uploads to %s that are never finished (%s) hold no more than the limit', async (path, framing) => {
  const before = rssBytes(gateway.server.pid);
  const uploads = await Promise.all(Array.from({ length: 30 }, () => unfinished(path, framing)));
  const refused = () => uploads.filter(({ received, closed }) => received !== '' || closed);
  await until('all that are too many are refused', () => refused().length >= 26);
  expect(refused()).toHaveLength(26);
  expect(rssBytes(gateway.server.pid) - before).toBeLessThan(3.5 * MAX_RECEIVING_BYTES);
  const answered = refused().filter(({ received }) => received !== '');
  expect(answered.length).toBeGreaterThan(0);
  for (const { received } of answered) {
    expect(received).toMatch(/^HTTP\/1.1 503 /);
    expect(received.toLowerCase()).toContain('retry-after: 1\r\n');
    expect(received).toContain('"code":"upload_backpressure"');
  }
  // Meanwhile small requests are served, and large ones told to come again.
  expect((await gateway.send('POST', '/run', { argv: ['true'] })).status).toBe(200);
  const large = () => gateway.send('POST', '/run', { argv: ['wc', '-c'], input: 'x'.repeat(15 * MIB) }).catch(() => null);
  expect((await large())?.status ?? 503).toBe(503);
  for (const connection of open.splice(0)) connection.destroy();
  await until('there is room again', async () => (await large())?.status === 200);
  // And no room is lost.
  const all = await Promise.all([large(), large(), large(), large()]);
  expect(all.map((reply) => reply?.status)).toEqual([200, 200, 200, 200]);
});

test('a body of a type that nobody takes is refused as such, and counts for nothing', async () => {
  const uploads = await Promise.all(Array.from({ length: 12 }, () => unfinished('/run', `Content-Length: ${15.5 * MIB}`, 'text/plain')));
  await until('all are answered', () => uploads.every(({ received, closed }) => received !== '' || closed));
  for (const { received } of uploads) if (received !== '') expect(received).toMatch(/^HTTP\/1.1 415 /);
  expect((await gateway.send('POST', '/run', { argv: ['wc', '-c'], input: 'x'.repeat(15 * MIB) })).status).toBe(200);
});
