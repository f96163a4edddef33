import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway } from '../../src/client/index.js';
import { findChromium, launchChromium } from '../support/chromium.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { until } from '../support/proc.js';
import { useGateway } from './use-gateway.js';

const page_server = createServer((_request, reply) => reply.setHeader('content-type', 'text/html').end('<!doctype html>'));
await new Promise<void>((resolve) => page_server.listen(0, '127.0.0.1', resolve));
const ORIGIN = `http://127.0.0.1:${(page_server.address() as AddressInfo).port}`;
afterAll(() => {
  page_server.closeAllConnections();
  return new Promise((resolve) => page_server.close(resolve));
});

const gateway = useGateway({ flags: ['--allow-origin', ORIGIN, '--allow-host', '127.0.0.1'] });

/** Answer bytes after which a connection breaks: headers and a few small events are less. */
const ROOM_BYTES = 4_000;
const LINE = `${'x'.repeat(3_000)}\n`;

interface Seen {
  ids: string[];
  opened: number;
  /** `readyState` at each error: 0 is about to come back, 2 has given up. */
  errors: number[];
}

const chromium = findChromium();

describe.skipIf(chromium === null)('EventSource in Chromium (skipped without it: apt-get install chromium)', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium(chromium as string);
    page = await browser.newPage();
    await page.goto(ORIGIN);
  });
  afterAll(() => browser.close());

  const client = () => new Gateway({ url: gateway.server.url, token: gateway.server.token as string });
  const seen = (): Promise<Seen> => page.evaluate('seen');
  const follow = (url: string) =>
    page.evaluate((url) => {
      const seen: Seen = { ids: [], opened: 0, errors: [] };
      const source = new EventSource(url);
      Object.assign(window, { seen, source });
      source.onopen = () => seen.opened++;
      source.onerror = () => seen.errors.push(source.readyState);
      for (const name of ['output', 'exited', 'closed', 'gap']) source.addEventListener(name, (event) => seen.ids.push(event.lastEventId));
    }, url);

  test('a ticket opens a stream, and opens it again where the line broke', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const { ticket } = await client().ticket(process_id);
    await using proxy = await CuttingProxy.open(gateway.server.url, (count) => (count === 0 ? ROOM_BYTES : null));
    await follow(`${proxy.url}/processes/${process_id}/events?ticket=${ticket}`);
    await client().write(process_id, 'one\n');
    await until('the first event', async () => (await seen()).ids.length === 1);
    await client().write(process_id, LINE.repeat(4));
    await until('the line is cut', () => proxy.cuts === 1);
    await client().write(process_id, 'two\n', { eof: true });
    await until('the browser has given up after the end', async () => (await seen()).errors.at(-1) === 2);
    const { ids, opened, errors } = await seen();
    expect([opened, errors[0]]).toEqual([2, 0]);
    expect(ids.map(Number)).toEqual(Array.from({ length: ids.length }, (_, at) => at + 1));
    expect((await client().get(process_id)).next_seq).toBe(ids.length + 1);
  });

  test('one that has expired meanwhile ends it, the reason is told, and a new one goes on', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const { ticket } = await client().ticket(process_id, { ttl_ms: 1_000 });
    await using proxy = await CuttingProxy.open(gateway.server.url, (count) => (count === 0 ? ROOM_BYTES : null));
    const events = `${proxy.url}/processes/${process_id}/events`;
    await follow(`${events}?ticket=${ticket}`);
    await client().write(process_id, 'one\n');
    await until('the first event', async () => (await seen()).ids.length === 1);
    const again = `${gateway.server.url}/processes/${process_id}/output?follow=true&stream=stderr&ticket=${ticket}`;
    const status = async () => {
      const reply = await fetch(again);
      await reply.body?.cancel();
      return reply.status;
    };
    await until('the ticket has expired', async () => (await status()) === 401);
    await client().write(process_id, 'still open\n');
    await until('what was opened before goes on', async () => (await seen()).ids.length === 2);
    await client().write(process_id, LINE.repeat(4));
    await until('the browser has given up', async () => (await seen()).errors.at(-1) === 2);
    expect((await seen()).errors).toEqual([0, 2]);
    const why = await page.evaluate(async (url) => (await fetch(url)).json(), `${events}?ticket=${ticket}`);
    expect(why).toMatchObject({ status: 401, code: 'ticket_expired', detail: expect.stringContaining('POST /tickets') });
    const { ids } = await seen();
    const fresh = await client().ticket(process_id);
    await follow(`${events}?ticket=${fresh.ticket}&after_seq=${ids.at(-1)}`);
    await client().write(process_id, '', { eof: true });
    await until('the rest has come', async () => (await seen()).errors.at(-1) === 2);
    const all = [...ids, ...(await seen()).ids].map(Number);
    expect(all).toEqual(Array.from({ length: all.length }, (_, at) => at + 1));
    expect((await client().get(process_id)).next_seq).toBe(all.length + 1);
  });
});
