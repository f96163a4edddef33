import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { useGateway } from './use-gateway.js';

const run = promisify(execFile);
const gateway = useGateway();

/** Six times what a process retains, and with the smaller rate as much as takes curl six seconds. */
const TRANSFERS = [
  { rate: '1M', bytes: 6_000_000 },
  { rate: '4M', bytes: 16_000_000 },
];

/** So many at once: curl takes a second's worth in one go, or two, as it meets the output. */
const READERS = 4;

test('a reader that keeps a rate by itself, by bursts and rests, gets all that a fast program prints', { timeout: 60_000 }, async () => {
  const read = async ({ rate, bytes }: { rate: string; bytes: number }) => {
    const { process_id } = await gateway.start(['head', '-c', String(bytes), '/dev/zero']);
    const url = `${gateway.server.url}/processes/${process_id}/output?follow=true`;
    const args = ['-sSfN', '--limit-rate', rate, '-H', gateway.authorization, '-o', '/dev/null', '-w', '%{size_download}', url];
    return (await run('curl', args)).stdout;
  };
  const all = TRANSFERS.flatMap((transfer) => Array.from({ length: READERS }, () => transfer));
  expect(await Promise.all(all.map(read))).toEqual(all.map(({ bytes }) => String(bytes)));
});
