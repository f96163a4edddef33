import { describe, expect, it } from 'vitest';
import { type BackendName, useBackend } from '../support/backends.js';
import { rssBytes } from '../support/proc.js';
import { RssWatch } from './rss-watch.js';

const MIB = 1024 * 1024;
const SIZE = 128 * MIB;
const ROOM = 30 * MIB;

const CASES: BackendName[] = ['hosted', 'proxied'];

describe.each(CASES)('%s: a large transcript', (name) => {
  const backend = useBackend(name, { data_dir: true, env: { EXEC_GATEWAY_TRANSCRIPT_BYTES: String(2 * SIZE) } });

  it('passes through every program on its way in flat memory', async () => {
    const { process_id } = await backend.start(['head', '-c', String(SIZE), '/dev/zero']);
    await backend.process.get(process_id, { wait_ms: 60_000 });
    for (let closed = false; !closed; ) closed = (await backend.process.get(process_id)).state === 'closed';
    const take = async (length?: number) => {
      let bytes = 0;
      for await (const block of (await backend.process.transcript(process_id, { length })).body) bytes += block.length;
      return bytes;
    };
    await take(32 * MIB); // what a reader takes once is taken
    const watches = backend.pids.map((pid) => ({ pid, before: rssBytes(pid), watch: new RssWatch(pid) }));
    expect(await take()).toBe(SIZE);
    for (const { pid, before, watch } of watches) expect(watch.stop(), `${pid} had ${before}`).toBeLessThan(ROOM);
  }, 240_000);
});
