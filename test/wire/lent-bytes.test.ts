import { get, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();

const LAST = 3_000_000;
const PRINTED = Buffer.from(Array.from({ length: LAST }, (_, i) => `${i + 1}\n`).join(''));

function follow(process_id: string): Promise<IncomingMessage> {
  const url = `${gateway.server.url}/processes/${process_id}/output?follow=true`;
  return new Promise((resolve, reject) => {
    get(url, { headers: { authorization: `Bearer ${gateway.server.token}` }, agent: false }, resolve).on('error', reject);
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
