import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Sessions } from '../../src/plugins/sessions.js';
import { GatewayServer } from '../support/gateway-server.js';
import { StubGateway, sendProblem } from '../support/stub-gateway.js';
import { AttachClient, refusal } from './attach-client.js';
import { outcome, SignedIn } from './signed-in.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();
const token = () => gateway.server.token as string;

let page: SignedIn;
beforeEach(async () => {
  page = await SignedIn.at(gateway.server.url, token());
});

const open = async (cookie: string, path = '/processes') => outcome(await fetch(gateway.server.url + path, { headers: { cookie } }));

describe('the cookie', () => {
  test('opens what the token opens', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    for (const path of [
      '/processes',
      `/processes/${process_id}`,
      `/processes/${process_id}/output`,
      '/metrics',
      '/openapi.json',
      '/fs/metadata?path=/',
    ]) {
      expect([path, await outcome(await page.get(path))]).toEqual([path, [200, null]]);
    }
    expect(await outcome(await page.send('POST', `/processes/${process_id}/stdin`, { text: 'hi', eof: true }), 'POST')).toEqual([
      200,
      null,
    ]);
    const events = await page.get(`/processes/${process_id}/events`, { accept: 'text/event-stream', 'sec-fetch-site': 'same-origin' });
    expect(await events.text()).toContain('event: closed');
    expect(await outcome(await page.send('POST', '/run', { argv: ['true'] }), 'POST')).toEqual([200, null]);
    expect(await outcome(await page.send('POST', '/tickets', { process_id }), 'POST')).toEqual([201, null]);
    expect(await outcome(await page.send('DELETE', `/processes/${process_id}?purge=true`), 'DELETE')).toEqual([200, null]);
    expect(await outcome(await page.get('/none'))).toEqual([404, 'not_found']);
  });

  test('opens a WebSocket of its own page, which carries no CSRF token', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const url = `${gateway.server.url}/processes/${process_id}/attach`;
    for (const headers of [
      { origin: gateway.server.url },
      { origin: gateway.server.url, 'sec-fetch-site': 'cross-site' }, // as browsers say that compare ws: with http:
      { origin: gateway.server.url.replace('http:', 'https:'), 'sec-fetch-site': 'same-origin' },
    ]) {
      const viewer = new AttachClient(url.replace('http', 'ws'), [], { cookie: page.cookie, ...headers });
      await once(viewer.socket, 'open');
      viewer.socket.send('hi\n');
      await viewer.until(() => viewer.text(false).endsWith('hi\n'));
      viewer.socket.close();
      await viewer.untilEnd();
    }
    for (const headers of [
      {},
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-site' },
      { 'x-csrf-token': page.session.csrf_token },
    ]) {
      const refused = await refusal(url, { cookie: page.cookie, ...(headers as Record<string, string>) });
      expect([headers, refused.status, refused.body.code]).toEqual([headers, 403, 'not_same_origin']);
    }
    const foreign = await refusal(url, { cookie: page.cookie, origin: 'https://evil.example' });
    expect([foreign.status, foreign.body.code]).toEqual([403, 'origin_not_allowed']);
    const codex = await refusal(`${gateway.server.url}/exec-server`, { cookie: page.cookie });
    expect([codex.status, codex.body.code]).toEqual([403, 'not_same_origin']);
  });

  test('forged in any way is 401', async () => {
    const [name, value] = page.cookie.split('=') as [string, string];
    const [id, expiry, mac] = value.split('.') as [string, string, string];
    const later = (Number.parseInt(expiry, 36) + 1).toString(36);
    const last = String.fromCharCode((mac.at(-1) as string).charCodeAt(0) + 1);
    for (const forged of [
      '',
      '...',
      token(),
      page.session.csrf_token,
      `${id}.${later}.${mac}`,
      `${'A'.repeat(22)}.${expiry}.${mac}`,
      `${id}.${expiry}.`,
      `${id}.${expiry}`,
      `${id}.${expiry}.${mac.slice(1)}`,
      `${id}.${expiry}.${mac.slice(0, -1)}${last}`,
      `${id}.${expiry}.${page.session.csrf_token}`,
      `${value}=`,
      `"${value}"`,
      value.toUpperCase(),
      `${value}.${mac}`,
      'x'.repeat(8_000),
    ]) {
      expect([forged, await open(`${name}=${forged}`)]).toEqual([forged, [401, 'unauthorized']]);
    }
    for (const other of [
      `${name}x=${value}`,
      `exec_gateway_session_00000000=${value}`,
      `exec_gateway_session_=${value}`,
      `x${page.cookie}`,
      value,
      `token=${token()}`,
    ]) {
      expect([other, await open(other)]).toEqual([other, [401, 'unauthorized']]);
    }
    expect(await open(page.cookie)).toEqual([200, null]);
  });

  test('among others is found, a bad one of the same name first or last', async () => {
    const name = page.cookie.split('=', 1)[0] as string;
    for (const cookies of [
      `a=b; ${page.cookie}`,
      `${page.cookie};c`,
      `${name}=bad; ${page.cookie}`,
      `${page.cookie}; ${name}=bad`,
      `=;;  ${page.cookie}`,
    ]) {
      expect([cookies, await open(cookies)]).toEqual([cookies, [200, null]]);
    }
  });

  test('is good no longer than it was made for, and says so', async () => {
    const [name] = page.cookie.split('=') as [string];
    const expired = new Sessions(token(), -1_000).signIn(token()).cookie.split(';', 1)[0] as string;
    expect(expired.startsWith(`${name}=`)).toBe(true);
    const reply = await fetch(`${gateway.server.url}/session`, { headers: { cookie: expired } });
    expect([reply.status, await reply.json()]).toMatchObject([
      401,
      { code: 'unauthorized', detail: expect.stringMatching(/was good until .*: sign in again/) },
    ]);
    expect(await outcome(await page.send('POST', '/run', { argv: ['true'] }, { cookie: expired }), 'POST')).toEqual([401, 'unauthorized']);
  });

  test('counts for nothing beside an Authorization header', async () => {
    for (const [authorization, answer] of [
      [`Bearer ${token()}`, [200, null]],
      ['Bearer x', [401, 'unauthorized']],
      ['', [401, 'unauthorized']],
      [`Basic ${token()}`, [401, 'unauthorized']],
    ] as const) {
      expect(
        await outcome(await page.send('POST', '/run', { argv: ['true'] }, { authorization, 'x-csrf-token': undefined }), 'POST'),
      ).toEqual(answer);
    }
  });

  test('does not widen a ticket', async () => {
    const { process_id } = await gateway.start(['sleep', '60']);
    const { ticket } = (await (await gateway.send('POST', '/tickets', { process_id })).json()) as { ticket: string };
    expect(await outcome(await page.get(`/processes/${process_id}/events?hold_ms=5000&ticket=${ticket}`))).toEqual([403, 'read_only']);
    expect(await outcome(await page.get(`/processes/${process_id}/events?ticket=x`))).toEqual([401, 'invalid_ticket']);
  });
});

describe('with a cookie', () => {
  const calls = (process_id: string): [method: string, path: string, body: unknown][] => [
    ['POST', '/processes', { argv: ['true'] }],
    ['PUT', '/processes/csrf', { argv: ['true'] }],
    ['POST', '/run', { argv: ['true'] }],
    ['POST', `/processes/${process_id}/stdin`, { text: 'x' }],
    ['POST', `/processes/${process_id}/signal`, { signal: 'KILL' }],
    ['DELETE', `/processes/${process_id}`, undefined],
    ['POST', '/tickets', { process_id }],
    ['PUT', '/fs/directory?path=/tmp/none/none', undefined],
    ['DELETE', '/fs/entry?path=/tmp/none/none', undefined],
    ['DELETE', '/session', undefined],
    ['PATCH', '/processes', undefined],
    ['POST', '/none', {}],
  ];

  const WITHOUT_TOKEN: [what: string, changed: Record<string, string | undefined>][] = [
    ['no CSRF token', { 'x-csrf-token': undefined }],
    ['an empty one', { 'x-csrf-token': '' }],
    ['a wrong one', { 'x-csrf-token': 'x' }],
    ['the token of the gateway', { 'x-csrf-token': 'TOKEN' }],
  ];
  const ELSEWHERE: [what: string, changed: Record<string, string | undefined>][] = [
    ['no sign of a page', { origin: undefined }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of the host', { origin: undefined, 'sec-fetch-site': 'same-site' }],
    ['the address bar', { origin: undefined, 'sec-fetch-site': 'none' }],
  ];
  const REFUSED = [
    ...WITHOUT_TOKEN.map((one) => [...one, 'invalid_csrf_token'] as const),
    ...ELSEWHERE.map((one) => [...one, 'not_same_origin'] as const),
    ['a foreign origin', { origin: 'https://evil.example' }, 'origin_not_allowed'] as const,
    ['the same host at another port', { origin: 'http://127.0.0.1:1' }, 'origin_not_allowed'] as const,
  ];

  test.each(REFUSED)('nothing is done with %s', async (_what, changed, code) => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    for (const [method, path, body] of calls(process_id)) {
      const headers = 'x-csrf-token' in changed && changed['x-csrf-token'] === 'TOKEN' ? { 'x-csrf-token': token() } : changed;
      expect([method, path, await outcome(await page.send(method, path, body, headers), method)]).toEqual([method, path, [403, code]]);
    }
    expect(await gateway.list()).toMatchObject([{ process_id, state: 'running', stdin: { accepted_bytes: 0 } }]);
    expect(await open(page.cookie, '/session')).toEqual([200, null]);
  });

  test('a page of its own is known by either sign, also behind a proxy that speaks TLS or changes the Host', async () => {
    const https = gateway.server.url.replace('http:', 'https:');
    for (const headers of [
      { origin: https },
      { origin: https, 'sec-fetch-site': 'same-origin' },
      { origin: undefined, 'sec-fetch-site': 'same-origin' },
    ]) {
      expect([headers, await outcome(await page.send('POST', '/run', { argv: ['true'] }, headers), 'POST')]).toEqual([
        headers,
        [200, null],
      ]);
    }
  });

  test('a read is refused only to what another site began', async () => {
    for (const [headers, answer] of [
      [{ 'sec-fetch-site': 'same-origin' }, [200, null]],
      [{ 'sec-fetch-site': 'none' }, [200, null]],
      [{ origin: gateway.server.url }, [200, null]],
      [{ 'sec-fetch-site': 'cross-site' }, [403, 'not_same_origin']],
      [{ 'sec-fetch-site': 'same-site' }, [403, 'not_same_origin']],
      [{ 'sec-fetch-site': 'nonsense' }, [403, 'not_same_origin']],
      [{ origin: 'https://evil.example' }, [403, 'origin_not_allowed']],
    ] as [Record<string, string>, unknown][]) {
      expect([headers, await outcome(await page.get('/processes', headers))]).toEqual([headers, answer]);
    }
  });
});

describe('sessions of other gateways', () => {
  const servers: Record<string, GatewayServer> = {};
  let behind: StubGateway;
  const seen: string[] = [];
  const statusAt = async (server: GatewayServer, { cookie }: SignedIn) =>
    (await fetch(`${server.url}/processes`, { headers: { cookie } })).status;

  beforeAll(async () => {
    behind = await StubGateway.open((call) => {
      seen.push(JSON.stringify(call.request.headers));
      sendProblem(call, 'shutting_down');
    });
    servers.twin = await GatewayServer.start({ token: token() });
    servers.stranger = await GatewayServer.start({});
    servers.front = await GatewayServer.start({ flags: ['--upstream', behind.url] });
  });
  afterAll(async () => {
    for (const server of Object.values(servers).reverse()) await server.stop();
    await behind[Symbol.asyncDispose]();
  });

  test('are good with the same token, after a restart too, and with no other; the names differ', async () => {
    expect(await statusAt(servers.twin!, page)).toBe(200);
    expect(await statusAt(servers.stranger!, page)).toBe(401);
    const stranger = await SignedIn.at(servers.stranger!.url, servers.stranger!.token);
    expect(stranger.cookie.split('=')[0]).not.toBe(page.cookie.split('=')[0]);
    const renamed = `${page.cookie.split('=')[0]}=${stranger.cookie.split('=')[1]}`;
    expect(await open(renamed)).toEqual([401, 'unauthorized']);
    // One host, two ports: a browser sends both to both.
    const both = `${page.cookie}; ${stranger.cookie}`;
    expect(await open(both)).toEqual([200, null]);
    expect((await fetch(`${servers.stranger!.url}/processes`, { headers: { cookie: both } })).status).toBe(200);
  });

  test('are not told to a gateway behind', async () => {
    const front = await SignedIn.at(servers.front!.url, servers.front!.token);
    const start = seen.length;
    for (const [method, path, body] of [
      ['GET', '/processes/x/events', undefined],
      ['POST', '/run', { argv: ['true'] }],
      ['GET', '/fs/metadata?path=/', undefined],
    ] as const) {
      expect([path, (await front.send(method, path, body)).status]).toEqual([path, 503]);
    }
    expect(seen.length).toBeGreaterThan(start + 2);
    for (const headers of seen) expect(headers.toLowerCase()).not.toMatch(/cookie|csrf|exec_gateway_session|origin/);
  });
});
