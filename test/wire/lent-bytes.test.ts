import { get, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { useHostedGateway } from '../durable/hosted-gateway.js';
import type { GatewayServer } from '../support/gateway-server.js';
import { FrameReader } from './frame-reader.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();
const hosted = useHostedGateway();

const LAST = 3_000_000;
const PRINTED = Buffer.from(Array.from({ length: LAST }, (_, i) => `${i + 1}\n`).join(''));

function follow(process_id: string, { url, token }: GatewayServer = gateway.server): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { headers: { authorization: `Bearer ${token}` }, agent: false };
    get(`${url}/processes/${process_id}/output?follow=true`, options, resolve).on('error', reject);
  });
}

/** All that comes, and whether it ended as it should. */
async function all(response: IncomingMessage): Promise<{ bytes: Buffer; whole: boolean }> {
  const parts: Buffer[] = [];
  try {
    for await (const part of response) parts.push(part);
  } catch {
    return { bytes: Buffer.concat(parts), whole: false };
  }
  return { bytes: Buffer.concat(parts), whole: true };
}

/** What events hold of what was printed: the bytes in their place, and how many a gap stands for. */
async function placed(reader: FrameReader): Promise<{ right: boolean; bytes: number; missed: number }> {
  let [at, missed, right] = [0, 0, true];
  for await (const event of reader.events()) {
    if (event.event === 'gap') missed += event.bytes ?? Number.NaN;
    if (event.event !== 'output') continue;
    const place = at + missed;
    right &&= Buffer.compare(event.chunk, PRINTED.subarray(place, place + event.chunk.length)) === 0;
    at += event.chunk.length;
  }
  return { right: right && reader.whole === true, bytes: at, missed };
}

test('a raw reader that is left behind has read no wrong byte before it is cut off, and the others none at all', async () => {
  const { process_id } = await gateway.start(['sh', '-c', `read go; exec seq 1 ${LAST}`], { pipe_stdin: true });
  const stalled = (await follow(process_id)).pause();
  const others = await Promise.all([follow(process_id), follow(process_id)]);
  const written = gateway.send('POST', `/processes/${process_id}/stdin`, { text: '\n' });
  for (const { bytes, whole } of await Promise.all(others.map(all))) expect([whole, bytes.equals(PRINTED)]).toEqual([true, true]);
  expect((await written).status).toBe(200);
  const { bytes, whole } = await all(stalled);
  expect(whole).toBe(false);
  expect(bytes.length).toBeGreaterThan(0);
  expect(bytes.equals(PRINTED.subarray(0, bytes.length))).toBe(true);
});

test('a reader of events with their bytes that is left behind has read no wrong byte, and is told how many it missed', async () => {
  const { process_id } = await gateway.start(['sh', '-c', `read go; exec seq 1 ${LAST}`], { pipe_stdin: true });
  const url = `${gateway.server.url}/processes/${process_id}/events`;
  const open = () => FrameReader.open(url, { authorization: `Bearer ${gateway.server.token}` });
  const stalled = await open();
  stalled.reply.pause();
  const others = [await open(), await open()];
  const written = gateway.send('POST', `/processes/${process_id}/stdin`, { text: '\n' });
  for (const other of await Promise.all(others.map(placed))) expect(other).toEqual({ right: true, bytes: PRINTED.length, missed: 0 });
  expect((await written).status).toBe(200);
  const { right, bytes, missed } = await placed(stalled);
  expect([right, bytes + missed]).toEqual([true, PRINTED.length]);
  expect(bytes).toBeGreaterThan(0);
  expect(missed).toBeGreaterThan(0);
});

test('through the host of a data directory each reader has every byte, at its own pace', async () => {
  const { server } = hosted();
  const processes = hosted().processes();
  const argv = ['sh', '-c', `read go; exec seq 1 ${LAST}`];
  const { process_id } = (await processes.start({ argv, pipe_stdin: true })).process;
  const stalled = (await follow(process_id, server)).pause();
  const others = await Promise.all([follow(process_id, server), follow(process_id, server)]);
  await processes.write(process_id, Buffer.from('\n'));
  for (const { bytes, whole } of await Promise.all(others.map(all))) expect([whole, bytes.equals(PRINTED)]).toEqual([true, true]);
  const { bytes, whole } = await all(stalled);
  expect([whole, bytes.equals(PRINTED)]).toEqual([true, true]);
});
