import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { HostedProcess } from '../../src/process/hosted-process.js';
import { LocalExecProcess } from '../../src/process/local-exec-process.js';
import { DEFAULT_LIMITS, ProcessHandler, type ProcessLimits } from '../../src/process/process-handler.js';
import { Retention } from '../../src/process/retention.js';

const LONG_MS = 3_600_000;

/** Something that holds output; retention asks for no more. */
const holding = (held_bytes: number) => ({ held_bytes }) as HostedProcess;

describe('retention', () => {
  test('forgets the oldest first, and no more than the limits ask for', () => {
    const limits = fc.record({ max_closed: fc.nat({ max: 6 }), max_closed_bytes: fc.nat({ max: 50 }) });
    fc.assert(
      fc.property(limits, fc.array(fc.nat({ max: 30 }), { maxLength: 30 }), (given, sizes) => {
        const forgotten: HostedProcess[] = [];
        const retention = new Retention({ ...given, retain_closed_ms: LONG_MS }, (process) => forgotten.push(process));
        const all = sizes.map(holding);
        const kept: HostedProcess[] = [];
        const bytes = () => kept.reduce((sum, process) => sum + process.held_bytes, 0);
        for (const process of all) {
          retention.add(process);
          kept.push(process);
          while (kept.length > given.max_closed || (bytes() > given.max_closed_bytes && kept.length > 1)) kept.shift();
          expect([retention.count, retention.bytes]).toEqual([kept.length, bytes()]);
          expect([...forgotten, ...kept]).toEqual(all.slice(0, forgotten.length + kept.length));
        }
        retention.close();
      }),
    );
  });

  test('what is taken away is not forgotten a second time', () => {
    const forgotten: HostedProcess[] = [];
    const retention = new Retention({ max_closed: 1, max_closed_bytes: 100, retain_closed_ms: LONG_MS }, (process) =>
      forgotten.push(process),
    );
    const [first, second] = [holding(10), holding(20)];
    retention.add(first);
    retention.delete(first);
    retention.delete(first);
    expect([retention.count, retention.bytes]).toEqual([0, 0]);
    retention.add(second);
    expect([retention.count, retention.bytes, forgotten]).toEqual([1, 20, []]);
    retention.close();
  });

  test('time ends each in its turn, not all with the first', async () => {
    const gone: number[] = [];
    const started = performance.now();
    await new Promise<void>((resolve) => {
      const retention = new Retention({ max_closed: 9, max_closed_bytes: 100, retain_closed_ms: 40 }, () => {
        if (gone.push(performance.now()) === 2) resolve();
      });
      retention.add(holding(1));
      setTimeout(() => retention.add(holding(1)), 20);
      // The timer of the retention keeps no program alive: this one does.
      const alive = setInterval(() => gone.length === 2 && clearInterval(alive), 5);
    });
    expect((gone[0] as number) - started).toBeGreaterThanOrEqual(39);
    expect((gone[1] as number) - started).toBeGreaterThanOrEqual(58);
  });
});

describe('real processes', () => {
  let handler: ProcessHandler;
  const open = (limits: Partial<ProcessLimits>) => {
    handler = new ProcessHandler({ ...DEFAULT_LIMITS, ...limits });
    return new LocalExecProcess(handler);
  };
  afterEach(() => handler.shutdown(0));

  const finish = async (processes: LocalExecProcess, process_id: string) => {
    await processes.run({ argv: ['true'], process_id });
  };

  test('a forgotten id stays spent, a purged one is free', async () => {
    const processes = open({ max_closed: 1 });
    await finish(processes, 'a');
    await finish(processes, 'b');
    await expect(processes.get('a')).rejects.toMatchObject({ code: 'process_not_found' });
    await expect(processes.start({ argv: ['true'], process_id: 'a' }, { once: true })).rejects.toMatchObject({ code: 'process_exists' });
    await processes.terminate('b', { purge: true });
    await expect(processes.get('b')).rejects.toMatchObject({ code: 'process_not_found' });
    await finish(processes, 'b');
    expect((await processes.get('b')).exit_code).toBe(0);
  });

  test('one that runs stays, however many come and go and however much they print', async () => {
    const processes = open({ max_closed: 3, max_closed_bytes: 10 });
    await processes.start({ argv: ['sleep', '60'], process_id: 'old' });
    for (let i = 0; i < 10; i++) await processes.run({ argv: ['echo', 'a longer line than that'] });
    const { processes: listed } = await processes.list();
    expect(listed.map(({ process_id }) => process_id)).toContain('old');
    expect(listed).toHaveLength(2);
    expect(handler.stats()).toMatchObject({ running: 1, retained: 1, started_total: 11, exited_total: 10 });
  });

  test('a reader that follows keeps reading what is forgotten under it', async () => {
    const processes = open({ max_closed: 0 });
    const { process } = await processes.start({ argv: ['sh', '-c', 'read go; seq 1 1000'], pipe_stdin: true });
    const events: string[] = [];
    const stream = await processes.follow(process.process_id);
    await processes.write(process.process_id, Buffer.from('go\n'));
    for await (const batch of stream) events.push(...batch.map(({ event }) => event));
    expect(events.at(-1)).toBe('closed');
    await expect(processes.get(process.process_id)).rejects.toMatchObject({ code: 'process_not_found' });
  });
});
