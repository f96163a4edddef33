import { describe, expect, test } from 'vitest';
import { useGateway } from '../wire/use-gateway.js';
import { ByteMeter, EventMeter } from './event-meter.js';
import { RssWatch } from './rss-watch.js';

const MIB = 1024 * 1024;
const TOTAL = 2_000_000_000;
/** What the process may hold; stated as the default of --retain-bytes. */
const RETAIN = MIB;

const gateway = useGateway();

/** A process that prints once it is told to go, when all its followers are there. */
const print = (bytes: number, process_id: string) =>
  gateway.start(['sh', '-c', `read go; exec head -c ${bytes} /dev/zero`], { process_id, pipe_stdin: true });
const go = (process_id: string) => gateway.send('POST', `/processes/${process_id}/stdin`, { text: 'go\n' });
const follow = (process_id: string) => new EventMeter(gateway.server.url, process_id, gateway.server.token);
const followBytes = (process_id: string) => new ByteMeter(gateway.server.url, process_id, gateway.server.token);

/** Time in which one follower alone takes it all, in milliseconds. */
async function timeAlone(process_id: string): Promise<number> {
  await print(TOTAL, process_id);
  const alone = await follow(process_id).opened;
  const started = performance.now();
  await go(process_id);
  await alone.done;
  expect(alone).toMatchObject({ bytes: TOTAL, gaps: [], holes: 0, exits: 1, closes: 1, ended: 'complete' });
  return performance.now() - started;
}

describe('2 GB to a stalled reader', () => {
  test('take the memory of the retention, slow no other reader, and give the stalled one its gap, then the rest', {
    timeout: 180_000,
  }, async () => {
    await print(TOTAL / 10, 'warm');
    const warm = await follow('warm').opened;
    await go('warm');
    await warm.done;
    const alone_ms = await timeAlone('alone');

    const memory = new RssWatch(gateway.server.pid);
    await print(TOTAL, 'watched');
    const stalled = await follow('watched').stall().opened;
    const stalled_raw = await followBytes('watched').stall().opened;
    const healthy = await follow('watched').opened;
    const started = performance.now();
    await go('watched');
    await healthy.done;
    const took_ms = performance.now() - started;

    expect(healthy).toMatchObject({ bytes: TOTAL, gaps: [], holes: 0, exits: 1, closes: 1, ended: 'complete' });
    expect(took_ms).toBeLessThan(alone_ms * 1.5 + 1000);
    expect(await (await gateway.fetch('/processes/watched')).json()).toMatchObject({ state: 'closed', total_bytes: TOTAL, exit_code: 0 });

    stalled.resume();
    const late = await stalled.done;
    expect(late).toMatchObject({ holes: 0, exits: 1, closes: 1, ended: 'complete', accounted: TOTAL });
    expect(late.gaps).toHaveLength(1);
    expect(late.gaps[0]?.bytes).toBeGreaterThan(TOTAL * 0.9);

    stalled_raw.resume();
    const cut = await stalled_raw.done;
    expect([cut.ended, cut.gap]).toEqual(['broken', undefined]);
    expect(cut.bytes).toBeLessThan(TOTAL / 10);
    expect(memory.stop()).toBeLessThan(RETAIN + 64 * MIB);
  });
});
