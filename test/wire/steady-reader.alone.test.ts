import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { useGateway } from './use-gateway.js';

const run = promisify(execFile);
const gateway = useGateway();
const dir = mkdtempSync(join(tmpdir(), 'steady-reader-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Six times what a process retains, and with the smaller rate as much as takes curl six seconds. */
const TRANSFERS = [
  { rate: '1M', bytes: 6_000_000 },
  { rate: '4M', bytes: 16_000_000 },
];

/** So many at once: curl takes a second's worth in one go, or two, as it meets the output. */
const READERS = 4;

test('a reader that keeps a rate by itself, by bursts and rests, gets all that a fast program prints', { timeout: 60_000 }, async () => {
  const read = async ({ rate, bytes }: { rate: string; bytes: number }) => {
    // It prints once curl is there, which may take longer than a program waits for its first reader.
    const { process_id } = await gateway.start(['sh', '-c', `read go; exec head -c ${bytes} /dev/zero`], { pipe_stdin: true });
    const url = `${gateway.server.url}/processes/${process_id}/output?follow=true`;
    const heads = join(dir, process_id);
    const args = [
      '-sSfN',
      '--limit-rate',
      rate,
      '-H',
      gateway.authorization,
      '-D',
      heads,
      '-o',
      '/dev/null',
      '-w',
      '%{size_download}',
      url,
    ];
    const read = run('curl', args);
    await until('curl follows', () => existsSync(heads) && readFileSync(heads, 'utf8').endsWith('\r\n\r\n'));
    await gateway.send('POST', `/processes/${process_id}/stdin`, { text: 'go\n', eof: true });
    return (await read).stdout;
  };
  const all = TRANSFERS.flatMap((transfer) => Array.from({ length: READERS }, () => transfer));
  expect(await Promise.all(all.map(read))).toEqual(all.map(({ bytes }) => String(bytes)));
});
