import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LocalExecProcess } from '../../src/process/local-exec-process.js';
import { DEFAULT_LIMITS, ProcessHandler } from '../../src/process/process-handler.js';
import { until } from '../support/proc.js';

/** More than is read ahead of a reader that stands still, and what is beyond fits into any pipe. */
const BYTES = 650_000;

test('what a process has printed is kept when it is ended while a reader holds it back', async () => {
  const handler = new ProcessHandler(DEFAULT_LIMITS);
  const processes = new LocalExecProcess(handler);
  const script = `read go; head -c ${BYTES} /dev/zero; exec sleep 60`;
  const { process } = await processes.start({ argv: ['sh', '-c', script], pipe_stdin: true });
  const { process_id, pid } = process;
  const reader = await processes.follow(process_id, { hold_ms: 60_000 });
  await processes.write(process_id, Buffer.from('go\n'), {});
  await until('all is printed', () => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n');
  expect((await processes.get(process_id)).total_bytes).toBeLessThan(BYTES);
  await processes.terminate(process_id, { grace_ms: 0 });
  await until('it is closed', async () => (await processes.get(process_id)).closed_at !== null);
  let read = 0;
  for await (const batch of reader) for (const event of batch) if (event.event === 'output') read += event.chunk.length;
  expect([(await processes.get(process_id)).total_bytes, read]).toEqual([BYTES, BYTES]);
  await handler.shutdown(0);
});
