import { afterEach, expect, test } from 'vitest';
import { MAX_READ_BYTES, MAX_SENDING_BYTES } from '../../src/protocol/index.js';
import { rssBytes, until } from '../support/proc.js';
import { RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const MIB = 1024 * 1024;
const gateway = useGateway();
const open: RawConnection[] = [];

afterEach(() => {
  for (const connection of open.splice(0)) connection.destroy();
});

/** Asks for all that is held, so many times at once, and reads no more than the head of the first answer. */
async function stalled(query: string, accept = 'application/json', times = 1): Promise<void> {
  const connection = await RawConnection.open(gateway.port);
  open.push(connection);
  connection.socket.once('data', () => connection.socket.pause());
  const headers = [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization, `Accept: ${accept}`];
  connection.send(requestText(`GET /processes/talker/output?max_bytes=${MAX_READ_BYTES}${query} HTTP/1.1`, headers).repeat(times));
  await connection.until((received) => received !== '');
}

const read = async (query: string): Promise<number> => {
  const reply = await gateway.fetch(`/processes/talker/output?encoding=utf8&${query}`);
  const { chunks } = (await reply.json()) as { chunks: { chunk: string }[] };
  return chunks.reduce((sum, { chunk }) => sum + chunk.length, 0);
};

test('answers that nobody takes hold no more than the limit, and hold up nobody: others are short meanwhile', async () => {
  const argv = ['sh', '-c', 'head -c 17000000 /dev/zero | tr "\\0" x; exec sleep 600'];
  await gateway.send('PUT', '/processes/talker', { argv, retain_bytes: 20 * MIB });
  await until('all of it is held', async () => (await read('max_bytes=16777216')) > 16 * MIB - 65_536);
  const before = rssBytes(gateway.server.pid);
  // The system may take a small answer whole, and then it counts no more; behind a large one on its connection it has to wait.
  await stalled('', undefined, 8);
  for (let i = 0; i < 40; i++) await stalled(i % 2 ? '&encoding=utf8' : '', i % 4 === 2 ? 'text/plain' : undefined);
  expect(rssBytes(gateway.server.pid) - before).toBeLessThan(2 * MAX_SENDING_BYTES);
  const short = await read('max_bytes=16777216');
  expect(short).toBeGreaterThan(0);
  expect(short).toBeLessThanOrEqual(128 * 1024);
  for (const connection of open.splice(0)) connection.destroy();
  await until('there is room again', async () => (await read('max_bytes=16777216')) > 16 * MIB - 65_536);
});
