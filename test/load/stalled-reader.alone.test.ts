import { describe, expect, test } from 'vitest';
import { until } from '../support/proc.js';
import { useGateway } from '../wire/use-gateway.js';
import { EventMeter } from './event-meter.js';
import { RssWatch } from './rss-watch.js';

const MIB = 1024 * 1024;
/** What the healthy reader takes while the others stall. */
const MEANWHILE = 300 * MIB;

const gateway = useGateway();
const follow = (process_id: string) => new EventMeter(gateway.server.url, process_id, gateway.server.token).opened;

/** Starts an endless process that waits for its followers. */
async function endless(script: string, tty = false): Promise<{ process_id: string; go: () => Promise<unknown> }> {
  const { process_id } = await gateway.start(['sh', '-c', `stty -echo 2>/dev/null; echo ready; read go; ${script}`], {
    tty,
    pipe_stdin: true,
  });
  await gateway.fetch(`/processes/${process_id}/output?wait_ms=20000`);
  return { process_id, go: () => gateway.send('POST', `/processes/${process_id}/stdin`, { text: 'go\n' }) };
}

describe.each([
  ['on pipes', false],
  ['on a terminal', true],
])('B08 readers that stall beside one that does not, %s', (_name, tty) => {
  test('cost no memory, take nothing from the other, and get a gap instead of silence', async () => {
    const warm = await endless('exec yes', tty);
    const first = await follow(warm.process_id);
    await warm.go();
    await until('the gateway is warm', () => first.bytes > 20 * MIB, 30_000);
    first.close();
    await gateway.clear();

    const memory = new RssWatch(gateway.server.pid);
    const { process_id, go } = await endless('exec yes', tty);
    const stalled = await Promise.all(Array.from({ length: 5 }, async () => (await follow(process_id)).stall()));
    const healthy = await follow(process_id);
    await go();
    const wanted = tty ? MEANWHILE / 10 : MEANWHILE; // a terminal is slower by its line discipline
    await until('the healthy one has read on', () => healthy.bytes > wanted, 60_000);
    expect(healthy).toMatchObject({ gaps: [], holes: 0, ended: null });
    expect(stalled.map(({ ended, gaps }) => [ended, gaps.length])).toEqual(stalled.map(() => [null, 0]));

    for (const reader of stalled) reader.resume();
    await until('each has its gap and reads on', () =>
      stalled.every(({ gaps, last_seq }) => gaps.length > 0 && last_seq > (gaps[0]?.to_seq ?? 0)),
    );
    expect(memory.stop()).toBeLessThan(64 * MIB);
    expect(stalled.every(({ holes, gaps }) => holes === 0 && (gaps[0]?.bytes ?? 0) > wanted / 10)).toBe(true);

    await gateway.fetch(`/processes/${process_id}?grace_ms=0&wait_ms=10000`, { method: 'DELETE' });
    const { total_bytes } = await (await gateway.fetch(`/processes/${process_id}`)).json();
    for (const reader of [healthy, ...stalled]) {
      await reader.done;
      expect(reader).toMatchObject({ holes: 0, exits: 1, closes: 1, ended: 'complete', accounted: total_bytes });
    }
  });
});
