import { describe, expect, test } from 'vitest';
import { exchange, RawConnection, requestText } from './raw-connection.js';
import { useGateway, type WireGateway } from './use-gateway.js';

/** The status of each kind of call under a Host header. */
async function statuses(gateway: WireGateway, host: string | null, authorization = gateway.authorization): Promise<number[]> {
  const common = [...(host === null ? [] : [`Host: ${host}`]), authorization];
  const start = JSON.stringify({ argv: ['true'], process_id: 'rebound' });
  const json = ['Content-Type: application/json', `Content-Length: ${start.length}`];
  const requests = [
    requestText('GET /processes HTTP/1.1', common),
    requestText('GET /healthz HTTP/1.1', common),
    requestText('POST /processes HTTP/1.1', [...common, ...json], start),
    requestText('GET /processes/rebound HTTP/1.1', common),
    requestText('DELETE /processes/rebound?wait_ms=5000&purge=true HTTP/1.1', common),
    requestText('GET /events HTTP/1.1', [...common, 'Accept: text/event-stream']),
  ];
  const found: number[] = [];
  for (const request of requests) found.push(await firstStatus(gateway.port, request));
  return found;
}

/** Only the status: a stream does not end. */
async function firstStatus(port: number, request: string): Promise<number> {
  const connection = await RawConnection.open(port);
  await connection.send(request).until((text) => text.includes('\r\n'));
  connection.destroy();
  return Number(connection.received.split(' ')[1]);
}

const PASSES = [200, 200, 201, 200, 200, 200];
const REFUSED = [421, 421, 421, 421, 421, 421];

describe('B15 a gateway on loopback', () => {
  const gateway = useGateway();
  const all = (host: string | null) => statuses(gateway, host);

  test.each(['127.0.0.1', 'localhost', '[::1]', 'LocalHost', '127.0.0.2'])('answers as %s with its port', async (name) => {
    expect(await all(`${name}:${gateway.port}`)).toEqual(PASSES);
  });

  test.each([
    ['a foreign name', 'evil.example'],
    ['a foreign name with the port', 'evil.example:PORT'],
    ['a trailing dot', 'localhost.:PORT'],
    ['a name that begins like ours', 'localhost.evil.example:PORT'],
    ['a name that ends like ours', 'evil-localhost:PORT'],
    ['no port, which is 80', '127.0.0.1'],
    ['another port', '127.0.0.1:1'],
    ['an address that is not ours', '192.0.2.1:PORT'],
    ['another IPv6 address', '[2001:db8::1]:PORT'],
    ['an unclosed bracket', '[::1:PORT'],
    ['a user', 'localhost@evil.example:PORT'],
    ['a decimal address', '2130706433:PORT'],
    ['two names', 'localhost:PORT, evil.example'],
    ['nothing', ''],
    ['a space', 'local host:PORT'],
    ['an odd port', 'localhost:PORTx'],
    ['a port with a sign', 'localhost:+PORT'],
  ])('refuses %s before any work', async (_kind, host) => {
    expect(await all(host.replace('PORT', String(gateway.port)))).toEqual(REFUSED);
    expect(await gateway.list()).toEqual([]);
  });

  test('refuses a request without Host, and one with two', async () => {
    expect(await all(null)).toEqual(REFUSED);
    const own = `Host: 127.0.0.1:${gateway.port}`;
    for (const two of [
      [own, 'Host: evil.example'],
      ['Host: evil.example', own],
      [own, own],
    ]) {
      const reply = await exchange(gateway.port, requestText('GET /processes HTTP/1.1', [...two, gateway.authorization]));
      expect([400, 421]).toContain(reply?.status);
    }
  });

  test('an absolute address in the request line does not get round the check', async () => {
    const line = 'GET http://evil.example/processes HTTP/1.1';
    const reply = await exchange(gateway.port, requestText(line, ['Host: evil.example', gateway.authorization]));
    expect(reply?.status).toBe(421);
  });

  test('says what to do, and tells a foreign page nothing about tokens', async () => {
    const reply = await exchange(gateway.port, requestText('GET /processes HTTP/1.1', ['Host: evil.example']));
    expect([reply?.status, reply?.headers['www-authenticate'], reply?.headers['content-type']]).toEqual([
      421,
      undefined,
      'application/problem+json',
    ]);
    expect(JSON.parse(reply?.body ?? '')).toMatchObject({ code: 'host_not_allowed', detail: expect.stringContaining('--allow-host') });
  });
});

describe('a port forward', () => {
  const gateway = useGateway();
  const told = async (host: string) => {
    const reply = await exchange(gateway.port, requestText('GET /healthz HTTP/1.1', [`Host: ${host}`]));
    return [reply?.status, JSON.parse(reply?.body ?? '').detail];
  };

  test.each(['127.0.0.1:9', 'LOCALHOST:9', '[::1]:9', 'localhost'])('to another port is told of as such: %s', async (host) => {
    const says = new RegExp(`another port .* ${gateway.port}: .*--allow-host ${host.replace(/[[\]]/g, '.')}\\.$`);
    expect(await told(host)).toEqual([421, expect.stringMatching(says)]);
  });

  test('is not blamed for a name', async () => {
    expect(await told('evil.example:9')).toEqual([421, expect.not.stringContaining('another port')]);
  });
});

describe('B15 a gateway behind a proxy', () => {
  const gateway = useGateway({ flags: ['--allow-host', 'gate.example,other.example:8443'] });

  test.each(['gate.example', 'gate.example:443', 'GATE.example:9', 'other.example:8443'])(
    'answers as %s, which it allows',
    async (host) => {
      expect(await statuses(gateway, host)).toEqual(PASSES);
    },
  );

  test.each(['other.example', 'other.example:443', 'a.gate.example', 'evil.example'])('still refuses %s', async (host) => {
    expect(await statuses(gateway, host)).toEqual(REFUSED);
  });
});

describe('B15 a gateway on every address', () => {
  const gateway = useGateway({ flags: ['--listen', '0.0.0.0:0'] });

  test('answers as any address and refuses names', async () => {
    expect(await statuses(gateway, '192.0.2.7:1234')).toEqual(PASSES);
    expect(await statuses(gateway, 'evil.example')).toEqual(REFUSED);
  });
});
