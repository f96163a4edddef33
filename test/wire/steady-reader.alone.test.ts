import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { useGateway } from './use-gateway.js';

const run = promisify(execFile);
const gateway = useGateway();

/** More than the system holds for a connection, several times over. */
const BYTES = 16_000_000;

test('a steady reader of 4 MB/s gets all that a fast program prints', async () => {
  const { process_id } = await gateway.start(['head', '-c', String(BYTES), '/dev/zero']);
  const url = `${gateway.server.url}/processes/${process_id}/output?follow=true`;
  const args = ['-sSfN', '--limit-rate', '4M', '-H', gateway.authorization, '-o', '/dev/null', '-w', '%{size_download}', url];
  expect((await run('curl', args)).stdout).toBe(String(BYTES));
});
