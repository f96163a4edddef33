import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { GatewayServer } from '../support/gateway-server.js';

const open = new Set<GatewayServer>();
afterEach(async () => {
  for (const server of open) await stop(server);
});

/** Starts a gateway, in front of another where its URL is given. */
async function start(url?: string): Promise<GatewayServer> {
  const server = await GatewayServer.start({ token: null, flags: ['--no-auth', ...(url === undefined ? [] : ['--upstream', url])] });
  open.add(server);
  return server;
}

async function stop(server: GatewayServer): Promise<void> {
  open.delete(server);
  await server.stop();
}

/** What `/readyz` says; it has to say it soon. */
async function readiness(server: GatewayServer): Promise<unknown[]> {
  const begun = performance.now();
  const reply = await fetch(`${server.url}/readyz`);
  const body = (await reply.json()) as { code?: string; status: string };
  expect(performance.now() - begun).toBeLessThan(5000);
  expect(JSON.stringify(body)).not.toContain('127.0.0.1');
  return [reply.status, body.code ?? body.status, reply.headers.get('retry-after')];
}

const READY = [200, 'ready', null];
const NOT_READY = [503, 'not_ready', '1'];

describe('a gateway in front of another is ready', () => {
  test('while the one behind is reached, however far behind', async () => {
    const behind = await start();
    const between = await start(behind.url);
    const front = await start(between.url);
    for (const server of [behind, between, front]) expect(await readiness(server)).toEqual(READY);
    expect(await Promise.all(Array.from({ length: 50 }, () => readiness(front)))).toEqual(Array.from({ length: 50 }, () => READY));
    await stop(behind);
    for (const server of [between, front]) expect(await readiness(server)).toEqual(NOT_READY);
    expect((await fetch(`${front.url}/healthz`)).status).toBe(200);
  });

  test('not when what is behind says nothing, is no gateway, or wants a token', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const guarded = await GatewayServer.start();
    open.add(guarded);
    const urls = [`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, `${guarded.url}/below`, guarded.url];
    for (const url of urls) expect([url, ...(await readiness(await start(url)))]).toEqual([url, ...NOT_READY]);
    silent.close();
  });
});
