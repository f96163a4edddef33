import { afterEach, beforeEach, expect, test } from 'vitest';
import { LocalExecProcess } from '../../src/process/local-exec-process.js';
import { DEFAULT_LIMITS, ProcessHandler } from '../../src/process/process-handler.js';

let handler: ProcessHandler;
let processes: LocalExecProcess;
beforeEach(() => {
  handler = new ProcessHandler(DEFAULT_LIMITS);
  processes = new LocalExecProcess(handler);
});
afterEach(() => handler.shutdown(0));

test('many who ask at once for a large screen do not hold up everything else', async () => {
  const { process } = await processes.start({ argv: ['seq', '-s', ' ', '60000'], tty: { cols: 1000, rows: 250 } });
  const { process_id } = process;
  await processes.read(process_id, { after_seq: (await processes.get(process_id, { wait_ms: 10_000 })).next_seq - 1, wait_ms: 10_000 });
  const first = await processes.screen(process_id, { paint: true });
  let turns = 0;
  let over = false;
  const turn = () => {
    turns++;
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  const all = await Promise.all(Array.from({ length: 20 }, () => processes.screen(process_id, { paint: true })));
  over = true;
  expect(turns).toBeGreaterThanOrEqual(19);
  expect(all.every(({ paint }) => Buffer.compare(paint as Uint8Array, first.paint as Uint8Array) === 0)).toBe(true);
});

test('output of which two bytes touch every cell is left out when it takes too long, and others get their screen', async () => {
  const script = 'while :; do printf "\\033c\\033c\\033c\\033c\\033c\\033c\\033c\\033c"; done';
  const { process } = await processes.start({ argv: ['sh', '-c', script], tty: { cols: 65_535, rows: 3 } });
  const other = await processes.start({ argv: ['sh', '-c', 'printf here; exec cat'], tty: true });
  for (let after_seq = 0; (await processes.get(process.process_id)).total_bytes < 64 * 1024; ) {
    after_seq = (await processes.read(process.process_id, { after_seq, wait_ms: 20_000 })).next_seq - 1;
  }
  const begun = performance.now();
  const [slow, quick] = await Promise.all([
    processes.screen(process.process_id),
    processes.screen(other.process.process_id, { after_seq: 0, wait_ms: 20_000 }),
  ]);
  expect(slow.complete).toBe(false);
  expect(quick.text).toBe('here');
  expect(performance.now() - begun).toBeLessThan(20_000);
});
