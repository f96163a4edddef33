import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gateway } from '../../src/client/index.js';
import { parseCast } from '../support/cast.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { GatewayServer } from '../support/gateway-server.js';
import { codeOf } from '../support/told.js';

const LINES = Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join('');
const RETAIN_BYTES = 4 * 1024 * 1024;

let server: GatewayServer;
beforeAll(async () => {
  server = await GatewayServer.start({ flags: ['--allow-host', '127.0.0.1'] });
});
afterAll(() => server.stop());

const gatewayAt = (url: string) => new Gateway({ url, token: server.token as string, retry: { first_delay_ms: 5, max_delay_ms: 50 } });

async function taken(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const block of bytes) parts.push(Buffer.from(block));
  return Buffer.concat(parts);
}

test('a transcript goes on where its line broke, as what it was when it began', async () => {
  const direct = gatewayAt(server.url);
  const { process_id } = await direct.start(['sh', '-c', 'seq 1 100000; read x; echo more'], {
    pipe_stdin: true,
    retain_bytes: RETAIN_BYTES,
  });
  while ((await direct.get(process_id)).total_bytes < LINES.length) await direct.read(process_id, { wait_ms: 20_000 });
  await using line = await CuttingProxy.open(server.url, (count) => (count < 3 ? 150_000 : null));
  const parts: Uint8Array[] = [];
  for await (const block of gatewayAt(line.url).transcript(process_id)) {
    if (parts.length === 0) await direct.write(process_id, '\n'); // it prints on meanwhile
    parts.push(Buffer.from(block));
  }
  expect(Buffer.concat(parts).toString()).toBe(LINES);
  expect(line.cuts).toBe(3);
  await direct.wait(process_id);
  for await (const _ of direct.follow(process_id));
  expect((await taken(direct.transcript(process_id, { offset: LINES.length }))).toString()).toBe('more\n');
});

test('a recording whose line broke is given up: it has no parts', async () => {
  const direct = gatewayAt(server.url);
  const { process_id } = await direct.start(['seq', '1', '100000'], { tty: true, retain_bytes: RETAIN_BYTES });
  for await (const _ of direct.follow(process_id));
  const whole = await taken(direct.transcript(process_id, { format: 'asciicast' }));
  expect(parseCast(whole).text).toBe(LINES.replaceAll('\n', '\r\n'));
  await using line = await CuttingProxy.open(server.url, () => 150_000);
  expect(await codeOf(taken(gatewayAt(line.url).transcript(process_id, { format: 'asciicast' })))).toBe('upstream_unreachable');
});
