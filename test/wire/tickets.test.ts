import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway } from '../../src/client/index.js';
import { DEFAULT_HOLD_MS, DEFAULT_TICKET_MS, type Problem, type Ticket, type TicketRequest } from '../../src/protocol/index.js';
import { GatewayServer } from '../support/gateway-server.js';
import { refusal } from './attach-client.js';
import { exchange, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway({ flags: ['--log-level', 'debug'] });

async function make(process_id: string, rest: Omit<TicketRequest, 'process_id'> = {}): Promise<string> {
  const reply = await gateway.send('POST', '/tickets', { process_id, ...rest });
  expect(reply.status).toBe(201);
  return ((await reply.json()) as Ticket).ticket;
}

/** A request without the token. */
async function open(path: string, init: RequestInit = {}): Promise<[status: number, code: string | null]> {
  const reply = await fetch(gateway.server.url + path, init);
  const body = await reply.text();
  return [reply.status, reply.ok ? null : (JSON.parse(body) as Problem).code];
}

const echo = () => gateway.start(['echo', 'hi']);

describe('POST /tickets', () => {
  test('gives a ticket with what it is good for', async () => {
    const { process_id } = await echo();
    const before = Date.now();
    const reply = await gateway.send('POST', '/tickets', { process_id });
    const { ticket, expires_at, ...rest } = (await reply.json()) as Ticket;
    expect([reply.status, rest]).toEqual([201, { process_id, scope: 'read' }]);
    const after = Date.now();
    expect(Date.parse(expires_at)).toBeGreaterThanOrEqual(before + DEFAULT_TICKET_MS);
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(after + DEFAULT_TICKET_MS);
    expect(encodeURIComponent(ticket)).toBe(ticket);
    expect(ticket).not.toContain(gateway.server.token);
  });

  test('of an unknown process is 404, and of what cannot be is 400', async () => {
    for (const [body, status, code] of [
      [{ process_id: 'none' }, 404, 'process_not_found'],
      [{}, 400, 'invalid_request'],
      [{ process_id: '..' }, 400, 'invalid_request'],
      [{ process_id: 'x', scope: 'all' }, 400, 'invalid_request'],
      [{ process_id: 'x', ttl_ms: 999 }, 400, 'invalid_request'],
      [{ process_id: 'x', ttl_ms: 600_001 }, 400, 'invalid_request'],
      [{ process_id: 'x', ttl_ms: '60000' }, 400, 'invalid_request'],
      [{ process_id: 'x', ttl: 1 }, 400, 'invalid_request'],
    ] as const) {
      const reply = await gateway.send('POST', '/tickets', body);
      expect([body, reply.status, ((await reply.json()) as Problem).code]).toEqual([body, status, code]);
    }
  });

  test('takes every time to live that is allowed', async () => {
    const { process_id } = await echo();
    for (const ttl_ms of [1_000, 600_000]) await make(process_id, { ttl_ms, scope: 'write' });
  });

  test('needs the token: a ticket makes no tickets', async () => {
    const { process_id } = await echo();
    const ticket = await make(process_id, { scope: 'write' });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ process_id }) };
    expect(await open(`/tickets?ticket=${ticket}`, init)).toEqual([401, 'unauthorized']);
    const bearer = { ...init.headers, authorization: `Bearer ${ticket}` };
    expect(await open('/tickets', { ...init, headers: bearer })).toEqual([401, 'unauthorized']);
  });
});

describe('a ticket', () => {
  test('to read holds a process back no longer than any follower, one to write may', async () => {
    const { process_id } = await gateway.start(['sleep', '60']);
    const [reads, writes] = [await make(process_id), await make(process_id, { scope: 'write' })];
    for (const path of [`/processes/${process_id}/events?`, `/processes/${process_id}/output?follow=true&`]) {
      expect(await open(`${path}hold_ms=${DEFAULT_HOLD_MS + 1}&ticket=${reads}`)).toEqual([403, 'read_only']);
      for (const query of [`hold_ms=${DEFAULT_HOLD_MS}&ticket=${reads}`, `hold_ms=${DEFAULT_HOLD_MS + 1}&ticket=${writes}`]) {
        const reply = await fetch(`${gateway.server.url}${path}${query}`);
        expect([query, reply.status]).toEqual([query, 200]);
        await reply.body?.cancel();
      }
    }
  });

  test.each(['read', 'write'] as const)('of scope %s opens the streams of its process', async (scope) => {
    const { process_id } = await echo();
    const ticket = await make(process_id, { scope });
    const events = await fetch(`${gateway.server.url}/processes/${process_id}/events?ticket=${ticket}`);
    expect([events.status, await events.text()]).toEqual([200, expect.stringContaining('event: closed')]);
    const output = await fetch(`${gateway.server.url}/processes/${process_id}/output?ticket=${ticket}&follow=true`);
    expect([output.status, await output.text()]).toEqual([200, 'hi\n']);
  });

  test('opens nothing else', async () => {
    const { process_id } = await echo();
    const ticket = await make(process_id, { scope: 'write' });
    const at = `/processes/${process_id}`;
    for (const [method, path] of [
      ['GET', '/processes'],
      ['GET', at],
      ['DELETE', at],
      ['GET', `${at}/output`],
      ['GET', `${at}/output?follow=false`],
      ['POST', `${at}/stdin`],
      ['POST', `${at}/signal`],
      ['POST', `${at}/resize`],
      ['GET', '/events'],
      ['GET', '/metrics'],
      ['GET', '/openapi.json'],
      ['GET', '/fs/file?path=/etc/hostname'],
      ['GET', '/fs/watch?path=/tmp'],
      ['POST', '/run'],
      ['GET', '/none'],
    ] as const) {
      const address = `${path}${path.includes('?') ? '&' : '?'}ticket=${ticket}`;
      expect([method, path, ...(await open(address, { method }))]).toEqual([method, path, 401, 'unauthorized']);
    }
    const refused = (await (await fetch(`${gateway.server.url}${at}/screen?ticket=${ticket}`)).json()) as Problem;
    expect(refused.detail).toContain('A ticket opens …/events, …/output?follow=true and …/attach of its process, and nothing else.');
    const known = await gateway.fetch(`${at}?ticket=${ticket}`);
    expect([known.status, ((await known.json()) as Problem).field]).toEqual([400, 'ticket']);
  });

  test('is told among the parameters where one is taken, and nowhere else', async () => {
    const { process_id } = await echo();
    for (const [below, told] of [
      ['/events', true],
      ['/output', true],
      ['/attach', true],
      ['/screen', false],
      ['', false],
    ] as const) {
      const refused = (await (await gateway.fetch(`/processes/${process_id}${below}?foo=1`)).json()) as Problem;
      expect([below, refused.field, refused.allowed?.includes('ticket')]).toEqual([below, 'foo', told]);
    }
  });

  test('of another process is 403', async () => {
    const [one, other] = [await echo(), await echo()];
    const ticket = await make(one.process_id);
    expect(await open(`/processes/${other.process_id}/events?ticket=${ticket}`)).toEqual([403, 'ticket_for_another']);
    expect(await open(`/processes/none/events?ticket=${ticket}`)).toEqual([403, 'ticket_for_another']);
    expect(await open(`/processes/${other.process_id}/attach?ticket=${ticket}`)).toEqual([403, 'ticket_for_another']);
    expect(await refusal(`${gateway.server.url}/processes/${other.process_id}/attach?ticket=${ticket}`, {})).toMatchObject({ status: 403 });
  });

  test('of a forgotten process finds nothing', async () => {
    const { process_id } = await echo();
    const ticket = await make(process_id);
    await gateway.fetch(`/processes/${process_id}?purge=true`, { method: 'DELETE' });
    expect(await open(`/processes/${process_id}/events?ticket=${ticket}`)).toEqual([404, 'process_not_found']);
  });

  test('forged in any way is 401', async () => {
    const { process_id } = await echo();
    const ticket = await make(process_id);
    const [scope, expiry, id, mac] = ticket.split('.') as [string, string, string, string];
    const later = (Number.parseInt(expiry, 36) + 1).toString(36);
    const signed = (key: string) => createHmac('sha256', key).update(`${scope}.${expiry}.${id}`).digest('base64url');
    const last = mac.at(-1) as string;
    const spelt = `${mac.slice(0, -1)}${String.fromCharCode(last.charCodeAt(0) + 1)}`;
    for (const forged of [
      '',
      'x',
      '...',
      gateway.server.token,
      `write.${expiry}.${id}.${mac}`,
      `${scope}.${later}.${id}.${mac}`,
      `${scope}.${expiry}.other.${mac}`,
      `${scope}.${expiry}.${id}.`,
      `${scope}.${expiry}.${id}`,
      `${scope}.${expiry}.${id}.${mac.slice(1)}`,
      `${scope}.${expiry}.${id}.${spelt}`,
      `${ticket}=`,
      ` ${ticket}`,
      ticket.toUpperCase(),
      `${scope}.${expiry}.${id}.${signed('')}`,
      `${scope}.${expiry}.${id}.${signed(gateway.server.token as string)}`,
      'x'.repeat(8_000),
      'é'.repeat(1_000),
    ]) {
      const path = `/processes/${process_id}/events?ticket=${encodeURIComponent(forged as string)}`;
      expect([forged, ...(await open(path))]).toEqual([forged, 401, 'invalid_ticket']);
    }
    const twice = `/processes/${process_id}/events?ticket=${ticket}&ticket=${ticket}`;
    expect(await open(twice)).toEqual([401, 'invalid_ticket']);
    const refused = await fetch(gateway.server.url + twice);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('together with an Authorization header is refused, whichever of them is good', async () => {
    const { process_id } = await echo();
    const ticket = await make(process_id);
    for (const [given, authorization, answer] of [
      [ticket, `Bearer ${gateway.server.token}`, [400, 'invalid_request']],
      ['x', `Bearer ${gateway.server.token}`, [400, 'invalid_request']],
      [ticket, 'Bearer x', [401, 'unauthorized']],
      [ticket, '', [401, 'unauthorized']],
    ] as const) {
      expect(await open(`/processes/${process_id}/events?ticket=${given}`, { headers: { authorization } })).toEqual(answer);
    }
  });

  test('of a foreign page is 403', async () => {
    const { process_id } = await echo();
    const path = `/processes/${process_id}/events?ticket=${await make(process_id)}`;
    expect(await open(path, { headers: { origin: 'https://evil.example' } })).toEqual([403, 'origin_not_allowed']);
    expect(await open(path, { headers: { origin: gateway.server.url } })).toEqual([200, null]);
  });

  test('is in no log line, metric or error, good or bad', async () => {
    const { process_id } = await gateway.start(['sleep', '60']);
    const tickets = [await make(process_id), await make(process_id, { scope: 'write' })];
    const told: string[] = [];
    for (const ticket of tickets) {
      const paths = [
        `/processes/${process_id}/events?ticket=${ticket}x`,
        `/processes/${process_id}/events?ticket=${ticket}&ticket=${ticket}`,
        `/processes/${process_id}/events?ticket=${ticket}&after_seq=99`,
        `/processes/other/events?ticket=${ticket}`,
        `/processes/${process_id}/output?follow=true&ticket=${ticket}&stream=x`,
        `/processes?ticket=${ticket}`,
        `/none?ticket=${ticket}`,
      ];
      for (const path of paths) told.push(await (await fetch(gateway.server.url + path)).text());
      for (const path of paths) told.push(await (await gateway.fetch(path)).text());
      const line = `GET /processes/${process_id}/events?ticket=${ticket} HTTP/1.1`;
      told.push((await exchange(gateway.port, `${line.replace('1.1', '9.9')}\r\n\r\n`))?.body ?? '');
      told.push((await exchange(gateway.port, requestText(line, ['Host: evil.example'])))?.body ?? '');
    }
    told.push(await (await gateway.fetch('/metrics')).text(), gateway.server.output.stdout, gateway.server.output.stderr);
    const macs = tickets.map((ticket) => ticket.split('.').at(-1) as string);
    for (const text of told) for (const secret of [...macs, 'ticket=']) expect(text).not.toContain(secret);
    expect(gateway.server.output.stderr).toContain(`/processes/${process_id}/events`);
  });

  test('of the client opens a stream', async () => {
    const { process_id } = await echo();
    const client = new Gateway({ url: gateway.server.url, token: gateway.server.token as string });
    const { ticket, scope } = await client.ticket(process_id, { scope: 'write', ttl_ms: 5_000 });
    expect(scope).toBe('write');
    expect(await open(`/processes/${process_id}/events?ticket=${ticket}`)).toEqual([200, null]);
    await expect(client.ticket('none')).rejects.toMatchObject({ code: 'process_not_found' });
  });
});

describe('tickets of other gateways', () => {
  const servers: Record<string, GatewayServer> = {};
  const ticketOf = async (server: GatewayServer) => {
    const client = new Gateway({ url: server.url, token: server.token ?? undefined });
    await client.start(['echo', 'hi'], { process_id: 'one' });
    return (await client.ticket('one')).ticket;
  };
  const statusAt = async (server: GatewayServer, ticket: string) =>
    (await fetch(`${server.url}/processes/one/events?ticket=${ticket}`).then((reply) => reply.text().then(() => reply))).status;

  beforeAll(async () => {
    servers.first = await GatewayServer.start({});
    servers.twin = await GatewayServer.start({ token: servers.first.token });
    servers.stranger = await GatewayServer.start({});
    servers.open = await GatewayServer.start({ token: null, flags: ['--no-auth'] });
    servers.also_open = await GatewayServer.start({ token: null, flags: ['--no-auth'] });
    servers.front = await GatewayServer.start({ flags: ['--upstream', servers.open.url] });
  });
  afterAll(async () => {
    for (const server of Object.values(servers).reverse()) await server.stop();
  });

  test('are good with the same token, and with no other', async () => {
    const ticket = await ticketOf(servers.first!);
    expect(await statusAt(servers.first!, ticket)).toBe(200);
    await ticketOf(servers.twin!);
    expect(await statusAt(servers.twin!, ticket)).toBe(200);
    await ticketOf(servers.stranger!);
    expect(await statusAt(servers.stranger!, ticket)).toBe(401);
  });

  test('without a token they work, and are those of that gateway alone', async () => {
    const ticket = await ticketOf(servers.open!);
    expect(await statusAt(servers.open!, ticket)).toBe(200);
    await ticketOf(servers.also_open!);
    expect(await statusAt(servers.also_open!, ticket)).toBe(401);
    expect(await statusAt(servers.open!, `${ticket}x`)).toBe(401);
  });

  test('a proxy has its own', async () => {
    const ticket = await ticketOf(servers.front!);
    expect(await statusAt(servers.front!, ticket)).toBe(200);
    expect(await statusAt(servers.front!, await ticketOf(servers.open!))).toBe(401);
    const reply = await servers.front!.fetch('/tickets', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"process_id":"none"}',
    });
    expect([reply.status, ((await reply.json()) as Problem).code]).toEqual([404, 'process_not_found']);
  });
});
