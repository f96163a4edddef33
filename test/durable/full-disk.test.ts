import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { followAll, readUntil } from '../support/told.js';
import { useHostedGateway } from './hosted-gateway.js';

const MIB = 1024 * 1024;
const hosted = useHostedGateway();

/** Lets no file of a running program grow beyond so many bytes: its writes end as they do on a disk that is full. */
function limitFiles(pid: number, bytes: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

test('a disk that takes no more holds nothing up: it is told, what is missing is a gap, and what was written stays', async () => {
  const gateway = hosted();
  const processes = gateway.processes();
  const host = await gateway.hostPid();
  const log = () => readFileSync(join(gateway.dir, 'host.log'), 'utf8');
  const argv = ['sh', '-c', 'while read n; do seq 1 $n; echo of $n; done'];
  await processes.start({ process_id: 'p', argv, pipe_stdin: true, retain_bytes: 65_536 });
  const print = async (count: number) => {
    const { next_seq } = await processes.get('p');
    await processes.write('p', Buffer.from(`${count}\n`));
    await readUntil(processes, 'p', `of ${count}\n`, { after_seq: next_seq - 1 });
  };

  await print(100_000);
  limitFiles(host, MIB);
  await print(400_000);
  expect(log()).toContain('output cannot be written to the data directory');
  expect(await (await gateway.server.fetch('/metrics')).text()).toMatch(/^exec_gateway_transcript_failures_total [1-9]/m);

  limitFiles(host, 'unlimited');
  await until('it is written again', () => log().includes('is written to the data directory again'), 60_000);
  await print(100_001);
  await processes.write('p', Buffer.alloc(0), { eof: true });

  const expected = [100_000, 400_000, 100_001].map(said).join('');
  const told = await followAll(processes, 'p');
  expect([told.exit?.exit_code, told.gaps.map(({ reason }) => reason)]).toEqual([0, ['evicted']]);
  const text = told.text();
  const missing = told.gaps[0]?.bytes as number;
  expect(text.length + missing).toBe(expected.length);
  const first = told.chunks.findIndex(({ seq }) => seq > (told.gaps[0]?.to_seq as number));
  const before = Buffer.concat(told.chunks.slice(0, first).map(({ chunk }) => chunk)).toString();
  expect(before.length).toBeGreaterThan(said(100_000).length);
  expect([expected.startsWith(before), expected.endsWith(text.slice(before.length))]).toEqual([true, true]);
});

/** What is printed when it is asked for so many lines. */
function said(count: number): string {
  return `${Array.from({ length: count }, (_, i) => `${i + 1}\n`).join('')}of ${count}\n`;
}
