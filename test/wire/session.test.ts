import { beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_SESSION_MS, type Session } from '../../src/protocol/index.js';
import { GatewayServer } from '../support/gateway-server.js';
import { until } from '../support/proc.js';
import { exchange, requestText } from './raw-connection.js';
import { outcome, SignedIn, signIn } from './signed-in.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway({ flags: ['--log-level', 'trace'] });
const token = () => gateway.server.token as string;

let page: SignedIn;
beforeEach(async () => {
  page = await SignedIn.at(gateway.server.url, token());
});

const open = async (cookie: string, path = '/processes') => outcome(await fetch(gateway.server.url + path, { headers: { cookie } }));

describe('POST /session', () => {
  test('gives a cookie that no script reads and no other site makes a browser send', async () => {
    const before = Date.now();
    const { session, set_cookie } = await SignedIn.at(gateway.server.url, token());
    expect(set_cookie).toMatch(
      /^exec_gateway_session_[0-9a-f]{8}=[\w-]{22}\.[0-9a-z]+\.[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(Object.keys(session).sort()).toEqual(['csrf_token', 'expires_at']);
    expect(Date.parse(session.expires_at)).toBeGreaterThanOrEqual(before + DEFAULT_SESSION_MS);
    expect(Date.parse(session.expires_at)).toBeLessThanOrEqual(Date.now() + DEFAULT_SESSION_MS);
    for (const told of [set_cookie, session.csrf_token]) expect(told).not.toContain(token());
    expect(set_cookie).not.toContain(session.csrf_token);
  });

  test('gives each its own', async () => {
    const other = await SignedIn.at(gateway.server.url, token());
    expect(other.cookie).not.toBe(page.cookie);
    expect(other.session.csrf_token).not.toBe(page.session.csrf_token);
    expect(
      await outcome(await other.send('POST', '/run', { argv: ['true'] }, { 'x-csrf-token': page.session.csrf_token }), 'POST'),
    ).toEqual([403, 'invalid_csrf_token']);
  });

  test('marks it Secure where the page came by TLS', async () => {
    const origin = gateway.server.url.replace('http:', 'https:');
    for (const headers of [{ origin }, { 'x-forwarded-proto': 'https' }, { 'x-forwarded-proto': 'HTTPS, http' }] as Record<
      string,
      string
    >[]) {
      expect((await SignedIn.at(gateway.server.url, token(), headers)).set_cookie).toMatch(/; Secure$/);
    }
    for (const headers of [{ origin: gateway.server.url }, { 'x-forwarded-proto': 'http, https' }] as Record<string, string>[]) {
      expect((await SignedIn.at(gateway.server.url, token(), headers)).set_cookie).not.toContain('Secure');
    }
  });

  test('with a wrong token is 401 with one body, without a cookie', async () => {
    const right = token();
    const bodies = new Set<string>();
    for (const wrong of [
      '',
      'x',
      right.slice(1),
      `${right}x`,
      ` ${right}`,
      right.toUpperCase(),
      `${right}${right}`,
      'tökén',
      '\0',
      '\ud800',
      'x'.repeat(9_000),
    ]) {
      const reply = await signIn(gateway.server.url, { token: wrong });
      expect([wrong, reply.status, reply.headers.get('set-cookie'), reply.headers.get('www-authenticate')]).toEqual([
        wrong,
        401,
        null,
        'Bearer',
      ]);
      bodies.add(await reply.text());
    }
    expect(bodies.size).toBe(1);
    expect(JSON.parse([...bodies][0] as string).code).toBe('unauthorized');
  });

  test('takes the token from its body alone', async () => {
    const bearer = { authorization: gateway.authorization.replace('Authorization: ', '') };
    expect(await outcome(await signIn(gateway.server.url, { token: 'x' }, bearer), 'POST')).toEqual([401, 'unauthorized']);
    expect(await outcome(await signIn(gateway.server.url, { token: 'x' }, page.headers), 'POST')).toEqual([401, 'unauthorized']);
    for (const query of [`?token=${token()}`, '?a']) {
      const reply = await fetch(`${gateway.server.url}/session${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: token() }),
      });
      expect(await outcome(reply, 'POST')).toEqual([400, 'invalid_request']);
    }
  });

  test('refuses what has another form, is too large or comes from another site', async () => {
    const url = gateway.server.url;
    for (const body of [{}, { token: 1 }, { token: null }, [], null, { token: token(), more: 1 }, 'x']) {
      expect([body, await outcome(await signIn(url, body), 'POST')]).toEqual([body, [400, 'invalid_request']]);
    }
    const large = await signIn(url, { token: 'x'.repeat(16 * 1024) });
    expect([large.status, await large.json()]).toMatchObject([413, { code: 'payload_too_large', limit: 16_384 }]);
    for (const origin of ['https://evil.example', 'null', url.replace(/\d+$/, '1')]) {
      expect(await outcome(await signIn(url, { token: token() }, { origin }), 'POST')).toEqual([403, 'origin_not_allowed']);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      expect(await outcome(await signIn(url, { token: token() }, { 'content-type': type }), 'POST')).toEqual([
        415,
        'unsupported_media_type',
      ]);
    }
  });
});

describe('GET /session', () => {
  test('shows the session of the cookie, the same to every tab', async () => {
    const reply = await page.get('/session');
    expect([reply.status, await reply.json()]).toEqual([200, page.session]);
    expect([reply.headers.get('set-cookie'), reply.headers.get('cache-control')]).toEqual([null, 'no-store']);
  });

  test('is 401 without one, with the token too', async () => {
    expect(await outcome(await fetch(`${gateway.server.url}/session`))).toEqual([401, 'unauthorized']);
    expect(await outcome(await gateway.fetch('/session'))).toEqual([401, 'unauthorized']);
  });
});

describe('DELETE /session', () => {
  test('takes the cookie back, and ends the session for whoever copied it', async () => {
    const reply = await page.send('DELETE', '/session');
    const name = page.cookie.split('=', 1)[0];
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([204, `${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict`]);
    expect(await open(page.cookie)).toEqual([401, 'unauthorized']);
    expect(await outcome(await page.send('DELETE', '/session'), 'DELETE')).toEqual([401, 'unauthorized']);
    page = await SignedIn.at(gateway.server.url, token());
    expect(await open(page.cookie)).toEqual([200, null]);
  });

  test('of others goes on', async () => {
    const other = await SignedIn.at(gateway.server.url, token());
    await other.send('DELETE', '/session');
    expect(await open(page.cookie)).toEqual([200, null]);
  });

  test('with the token clears whatever cookie comes along', async () => {
    for (const cookie of [page.cookie, `${page.cookie}x`, 'a=b']) {
      const reply = await gateway.fetch('/session', { method: 'DELETE', headers: { cookie } });
      expect([reply.status, reply.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    }
    expect(await open(page.cookie)).toEqual([401, 'unauthorized']);
  });
});

test('no log line, metric or error holds the cookie, its CSRF token or the token', async () => {
  const bad = `${page.cookie}x`;
  const told: string[] = [];
  for (const path of ['/processes', '/none', '/session', '/processes/none/events', '/metrics', '/processes?x=1']) {
    for (const cookie of [page.cookie, bad])
      told.push(
        await (await fetch(gateway.server.url + path, { headers: { cookie } }))
          .text()
          .then((text) => text.replace(page.session.csrf_token, '')),
      );
  }
  told.push(await (await page.send('POST', '/run', { argv: ['true'] }, { 'x-csrf-token': `${page.session.csrf_token}x` })).text());
  told.push(await (await signIn(gateway.server.url, { token: token(), more: token() })).text());
  for (const line of ['GET /processes HTTP/9.9', 'GET /%zz HTTP/1.1', 'GET /processes HTTP/1.1']) {
    const lines = [`Host: 127.0.0.1:${gateway.port}`, `Cookie: ${page.cookie}`, `Cookie: ${page.cookie}`, 'X-Big: x'];
    told.push((await exchange(gateway.port, requestText(line, lines)))?.body ?? '');
  }
  await page.send('DELETE', '/session');
  const logged = () => gateway.server.output.stderr;
  await until('the last is logged', () => logged().includes('"method":"DELETE","path":"/session"'));
  told.push(gateway.server.output.stdout, logged());
  const secrets = [...(page.cookie.split('=')[1] as string).split('.'), page.session.csrf_token, token()].filter(
    (part) => part.length > 12,
  );
  expect(secrets).toHaveLength(4);
  for (const text of told) for (const secret of secrets) expect(text).not.toContain(secret);
});

describe('a gateway that asks for no token', () => {
  const open_gateway = useGateway({ token: null, flags: ['--no-auth'] });

  test('has everyone signed in, by whatever token, and takes every call as before', async () => {
    const reply = await open_gateway.fetch('/session');
    const session = (await reply.json()) as Session;
    expect([reply.status, Object.keys(session).sort()]).toEqual([200, ['csrf_token', 'expires_at']]);
    const anyone = await SignedIn.at(open_gateway.server.url, null);
    for (const headers of [
      {},
      { 'x-csrf-token': undefined },
      { cookie: undefined },
      { cookie: `${anyone.cookie}x` },
      { origin: undefined },
    ]) {
      expect([headers, (await anyone.send('POST', '/run', { argv: ['true'] }, headers)).status]).toEqual([headers, 200]);
    }
    const foreign = await anyone.send('POST', '/run', { argv: ['true'] }, { origin: 'https://evil.example' });
    expect(await outcome(foreign, 'POST')).toEqual([403, 'origin_not_allowed']);
    const ended = await anyone.send('DELETE', '/session');
    expect([ended.status, ended.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
  });
});

test('--session-ttl-ms is how long a session is good', async () => {
  const short = await GatewayServer.start({ flags: ['--session-ttl-ms', '1000'] });
  try {
    const { set_cookie, session, cookie } = await SignedIn.at(short.url, short.token);
    expect(set_cookie).toContain('Max-Age=1;');
    expect(Date.parse(session.expires_at)).toBeLessThanOrEqual(Date.now() + 1_000);
    await until('it is over', async () => (await fetch(`${short.url}/session`, { headers: { cookie } })).status === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(session.expires_at));
  } finally {
    await short.stop();
  }
});
