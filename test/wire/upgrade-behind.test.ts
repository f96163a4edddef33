import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { HANDSHAKE, RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();
const dir = mkdtempSync(join(tmpdir(), 'behind-'));
const LARGE = join(dir, 'large');
const LARGE_BYTES = 6 * 1024 * 1024;
writeFileSync(LARGE, Buffer.alloc(LARGE_BYTES, 'x'));

afterAll(() => rmSync(dir, { recursive: true }));

const get = (path: string, ...lines: string[]) =>
  requestText(`GET ${path} HTTP/1.1`, [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization, ...lines]);

const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'];

const statuses = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

/** Whether so many requests are not answered yet, besides the one that asks. */
const inFlight = async (count: number) => (await gateway.server.metric('exec_gateway_http_requests_in_flight')) === count + 1;

/** What is ahead on the connection: many that are answered at once, one that waits, one that is large. */
function ahead(what: string, id: string, wait_ms = 300): { text: string; statuses: number[] } {
  if (what === 'quick ones') return { text: get('/healthz').repeat(10), statuses: Array(10).fill(200) };
  if (what === 'one that waits') return { text: get('/healthz') + get(`/processes/${id}?wait_ms=${wait_ms}`), statuses: [200, 200] };
  return { text: get(`/fs/file?path=${LARGE}`), statuses: [200] };
}

describe.each(['quick ones', 'one that waits', 'a large one'])('behind %s', (what) => {
  test.each([
    ['a WebSocket that is refused', 403, (id: string) => get(`/processes/${id}/attach`, ...HANDSHAKE, 'Origin: https://evil.example')],
    ['a WebSocket', 101, (id: string) => get(`/processes/${id}/attach`, ...HANDSHAKE)],
    ['an upgrade that is passed over', 200, () => get('/healthz', ...H2C)],
  ])('%s is answered in its turn', async (_name, status, asked) => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo from the process; cat'], { pipe_stdin: true });
    const before = ahead(what, process_id);
    const connection = await RawConnection.open(gateway.port);
    connection.socket.pause();
    connection.send(before.text + asked(process_id));
    // What is large waits for its reader.
    if (what === 'a large one') await until('it was taken', () => inFlight(1));
    connection.socket.resume();
    const all = [...before.statuses, status];
    if (what === 'a large one') await connection.until((received) => received.length > LARGE_BYTES);
    await connection.until((received) => statuses(received).length === all.length);
    expect(statuses(connection.received)).toEqual(all);
    if (status === 101) expect(await connection.until((received) => received.includes('from the process\n'))).toBe(true);
    if (status === 403)
      expect([await connection.untilClosed(), connection.received]).toEqual([true, expect.stringContaining('origin_not_allowed')]);
    connection.destroy();
  });
});

test.each(['one that waits', 'a large one'])('a caller that breaks the connection off meanwhile, behind %s, is forgotten', async (what) => {
  const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
  const connection = await RawConnection.open(gateway.port);
  connection.socket.pause();
  connection.send(ahead(what, process_id, 60_000).text + get(`/processes/${process_id}/attach`, ...HANDSHAKE));
  await until('it was taken', () => inFlight(1));
  connection.socket.resetAndDestroy();
  await until('it is over', () => inFlight(0));
  expect((await gateway.fetch('/healthz')).status).toBe(200);
});
