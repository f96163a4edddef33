import { describe, expect, test } from 'vitest';
import { AttachClient, refusal } from './attach-client.js';
import { HANDSHAKE, RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const ALLOWED = 'https://dash.example';
const gateway = useGateway({ flags: ['--allow-origin', ALLOWED] });
const bearer = () => ({ authorization: `Bearer ${gateway.server.token}` });

async function address(query = ''): Promise<string> {
  const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
  return `${gateway.server.url}/processes/${process_id}/attach${query}`;
}

const code = async (url: string, headers: Record<string, string>, protocols: string[] = []) => {
  const { status, body } = await refusal(url, headers, protocols);
  return [status, body.code];
};

describe('before the upgrade', () => {
  test('B06 without a token, from another site, from nowhere: refused, and the connection ends; programs and allowed pages pass', async () => {
    const url = await address();
    const bearer_line = gateway.authorization;
    const asked: [string[], number, string][] = [
      [[], 401, 'unauthorized'],
      [['Authorization: Bearer wrong'], 401, 'unauthorized'],
      [[bearer_line, 'Origin: https://evil.example'], 403, 'origin_not_allowed'],
      [[bearer_line, 'Origin: null'], 403, 'origin_not_allowed'],
      [['Origin: https://evil.example'], 403, 'origin_not_allowed'],
    ];
    for (const [lines, status, code] of asked) {
      const connection = await RawConnection.open(gateway.port);
      const begun = performance.now();
      connection.send(requestText(`GET ${new URL(url).pathname} HTTP/1.1`, [`Host: 127.0.0.1:${gateway.port}`, ...HANDSHAKE, ...lines]));
      await connection.untilClosed();
      expect(performance.now() - begun).toBeLessThan(1_000);
      expect(connection.received).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*"code":"${code}"`));
    }
    expect(await code(url, { ...bearer(), host: 'evil.example' })).toEqual([421, 'host_not_allowed']);
    expect(await gateway.server.metric('exec_gateway_http_requests_in_flight')).toBe(1);
    for (const headers of [{}, { origin: ALLOWED }, { origin: gateway.server.url }]) {
      const viewer = new AttachClient(url.replace('http', 'ws'), [], { ...bearer(), ...headers });
      await new Promise((resolve) => viewer.socket.once('open', resolve));
      viewer.socket.close();
      expect((await viewer.untilEnd()).code).toBe(1005);
    }
  });

  test.each([
    ['too long', 'x'.repeat(600), 414, 'uri_too_long'],
    ['not UTF-8', '%ff', 400, 'invalid_request'],
  ])('an id that is %s, which no check sees: refused, and the connection ends', async (_what, id, status, code) => {
    const connection = await RawConnection.open(gateway.port);
    const lines = [`Host: 127.0.0.1:${gateway.port}`, ...HANDSHAKE, gateway.authorization];
    connection.send(requestText(`GET /processes/${id}/attach HTTP/1.1`, lines));
    await connection.untilClosed();
    expect(connection.received).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*"code":"${code}"`));
  });

  test('what is not there, a cursor that cannot be, a parameter that is not known', async () => {
    expect(await code(`${gateway.server.url}/processes/none/attach`, bearer())).toEqual([404, 'process_not_found']);
    expect(await code(await address('?after_seq=9'), bearer())).toEqual([409, 'cursor_ahead']);
    expect(await code(await address('?after_seq=1e3'), bearer())).toEqual([400, 'invalid_cursor']);
    expect(await code(await address('?stream=all'), bearer())).toEqual([400, 'invalid_request']);
    expect(await code(await address('?token=x'), bearer())).toEqual([400, 'invalid_request']);
    expect(await code(await address('?screen=true'), bearer())).toEqual([409, 'not_a_tty']);
    expect(await code(await address('?screen=true&after_seq=0'), bearer())).toEqual([400, 'invalid_request']);
    const { process_id } = await gateway.start(['sleep', '60'], { tty: { cols: 65_535, rows: 65_535 } });
    expect(await code(`${gateway.server.url}/processes/${process_id}/attach?screen=true`, bearer())).toEqual([409, 'screen_too_large']);
    expect(await code(`${gateway.server.url}/nothing`, bearer())).toEqual([404, 'not_found']);
  });

  test('subprotocols of which none is known; among several the known one is taken', async () => {
    const url = await address();
    expect(await code(url, bearer(), ['exec-gateway.v2', 'binary'])).toEqual([400, 'invalid_request']);
    const viewer = new AttachClient(url.replace('http', 'ws'), ['exec-gateway.v2', 'exec-gateway.v1'], bearer());
    await viewer.first('hello');
    expect(viewer.socket.protocol).toBe('exec-gateway.v1');
    viewer.socket.terminate();
  });

  test('a plain GET meets the same checks, and then learns what is taken here', async () => {
    const url = await address();
    const reply = await fetch(url, { headers: bearer() });
    expect([reply.status, reply.headers.get('upgrade'), (await reply.json()).code]).toEqual([426, 'websocket', 'upgrade_required']);
    expect((await fetch(`${url}?after_seq=9`, { headers: bearer() })).status).toBe(409);
    expect((await fetch(url)).status).toBe(401);
    expect((await gateway.fetch(new URL(url).pathname, { method: 'POST' })).status).toBe(405);
  });

  test.each([
    ['another version', ['Sec-WebSocket-Version: 12', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='], 426],
    ['no version', ['Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='], 426],
    ['no key', ['Sec-WebSocket-Version: 13'], 400],
    ['a key that is none', ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: short'], 400],
  ])('a handshake with %s', async (_name, lines, status) => {
    const { pathname } = new URL(await address());
    const connection = await RawConnection.open(gateway.port);
    const head = [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization, 'Connection: Upgrade', 'Upgrade: websocket', ...lines];
    connection.send(requestText(`GET ${pathname} HTTP/1.1`, head));
    expect(await connection.until((text) => text.includes('"code"'))).toBe(true);
    expect(connection.received).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\n[^]*application/problem\\+json`));
    await connection.untilClosed();
  });

  test.each([
    ['HTTP/1.1', ['Connection: close']],
    ['HTTP/1.0', []],
  ])('a plain GET by %s that asks for the end of the connection gets it', async (version, lines) => {
    const { pathname } = new URL(await address());
    for (const path of [pathname, '/exec-server']) {
      const connection = await RawConnection.open(gateway.port);
      connection.send(requestText(`GET ${path} ${version}`, [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization, ...lines]));
      await connection.untilClosed();
      expect(connection.received).toMatch(/^HTTP\/1.1 426 [\s\S]*connection: close, upgrade\r\n/);
    }
  });

  test.each(['', ',', 'a b', 'a, a', 'a,', '"a"', 'a, b/c'])(
    'subprotocols that are no list of names, at either address: %j',
    async (offered) => {
      const { pathname } = new URL(await address());
      for (const path of [pathname, '/exec-server']) {
        const connection = await RawConnection.open(gateway.port);
        const lines = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', `Sec-WebSocket-Protocol: ${offered}`];
        const head = [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization, 'Connection: Upgrade', 'Upgrade: websocket', ...lines];
        connection.send(requestText(`GET ${path} HTTP/1.1`, head));
        await connection.untilClosed();
        expect(connection.received).toMatch(
          /^HTTP\/1.1 400 .*\r\n[\s\S]*application\/problem\+json[\s\S]*"field":"Sec-WebSocket-Protocol"/,
        );
      }
    },
  );
});

describe('upgrades that are not taken are passed over', () => {
  const upgrade = (line: string, to: string, more: string[] = [], body = '') => {
    const head = [
      `Host: 127.0.0.1:${gateway.port}`,
      gateway.authorization,
      'Connection: Upgrade, HTTP2-Settings',
      `Upgrade: ${to}`,
      ...more,
    ];
    return requestText(line, head) + body;
  };

  test('to HTTP/2, with a body, as curl and Java ask with any request; the connection goes on', async () => {
    const connection = await RawConnection.open(gateway.port);
    const body = '{"argv":["echo","hi"]}';
    const more = ['HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA', 'Content-Type: application/json', `Content-Length: ${body.length}`];
    connection.send(upgrade('POST /run HTTP/1.1', 'h2c', more, body));
    expect(await connection.until((text) => text.includes('"stdout":"hi\\n"'))).toBe(true);
    connection.received = '';
    connection.send(upgrade('GET /healthz HTTP/1.1', 'h2c'));
    expect(await connection.until((text) => text.includes('{"status":"ok",'))).toBe(true);
    connection.destroy();
  });

  test('to a WebSocket where none is, or with a body', async () => {
    const connection = await RawConnection.open(gateway.port);
    connection.send(upgrade('GET /processes HTTP/1.1', 'websocket'));
    expect(await connection.until((text) => text.includes('"next_cursor"'))).toBe(true);
    connection.received = '';
    const { pathname } = new URL(await address());
    connection.send(upgrade(`GET ${pathname} HTTP/1.1`, 'websocket', ['Content-Length: 2'], 'hi'));
    expect(await connection.until((text) => text.includes('upgrade_required'))).toBe(true);
    connection.destroy();
  });
});
