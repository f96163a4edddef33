import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, statSync } from 'node:fs';
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

test.each([
  ['it is told', 0],
  ['also where the line that tells it cannot be written', MIB],
])('a disk that takes no more holds nothing up: %s, what is missing is a gap, and what was written stays', async (_, log_bytes) => {
  const gateway = hosted();
  const processes = gateway.processes();
  const host = await gateway.hostPid();
  const log_file = join(gateway.dir, 'host.log');
  const log = () => readFileSync(log_file, 'utf8').slice(begun_at);
  const begun_at = statSync(log_file).size;
  const argv = ['sh', '-c', 'while read n; do seq 1 $n; echo of $n; done'];
  const process_id = `p${log_bytes}`;
  await processes.start({ process_id, argv, pipe_stdin: true, retain_bytes: 65_536 });
  const print = async (count: number) => {
    const { next_seq } = await processes.get(process_id);
    await processes.write(process_id, Buffer.from(`${count}\n`));
    await readUntil(processes, process_id, `of ${count}\n`, { after_seq: next_seq - 1 });
  };

  await print(100_000);
  appendFileSync(log_file, Buffer.alloc(log_bytes, '\n'));
  limitFiles(host, MIB);
  await print(400_000);
  expect(log().includes('output cannot be written to the data directory')).toBe(log_bytes === 0);
  expect(await (await gateway.server.fetch('/metrics')).text()).toMatch(/^exec_gateway_transcript_failures_total [1-9]/m);

  limitFiles(host, 'unlimited');
  await until('it is written again', () => log().includes('is written to the data directory again'), 60_000);
  await print(100_001);
  await processes.write(process_id, Buffer.alloc(0), { eof: true });

  const expected = [100_000, 400_000, 100_001].map(said).join('');
  const told = await followAll(processes, process_id);
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
