import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BackendName, useBackend } from '../support/backends.js';
import { rssBytes } from '../support/proc.js';
import { followAll } from '../support/told.js';
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

/** Kept on disk of one process, in bytes. */
const KEPT = 16 * MIB;

describe('hosted: more output than is kept', () => {
  const backend = useBackend('hosted', { data_dir: true, env: { EXEC_GATEWAY_TRANSCRIPT_BYTES: String(KEPT) } });

  it('takes flat memory and its share of the disk; the gap is exact, and all behind it is there', async () => {
    // Lines of 10 bytes: what stands at an offset is known.
    const [first, last] = [100_000_000, 129_999_999];
    const total = (last - first + 1) * 10;
    const line = (number: number) => `${first + number}\n`;
    const expected = (offset: number, length: number) => {
      const start = Math.floor(offset / 10);
      const lines = Array.from({ length: Math.ceil(length / 10) + 1 }, (_, i) => line(start + i)).join('');
      return lines.slice(offset % 10, (offset % 10) + length);
    };
    const small = await backend.start(['seq', String(first), String(first + 1_000_000)]);
    await followAll(backend.process, small.process_id); // what is loaded once is loaded from here on
    const watches = backend.pids.map((pid) => new RssWatch(pid));
    const { process_id } = await backend.start(['seq', String(first), String(last)]);
    let largest = 0;
    for (let closed = false; !closed; ) {
      closed = (await backend.process.get(process_id, { wait_ms: 200 })).state === 'closed';
      largest = Math.max(largest, bytesIn(join(backend.data_dir, 'transcripts', process_id)));
    }
    for (const watch of watches) expect(watch.stop()).toBeLessThan(ROOM);
    expect(largest).toBeGreaterThan(KEPT / 2);
    expect(largest).toBeLessThan(1.1 * KEPT);

    const told = await followAll(backend.process, process_id);
    const [gap] = told.gaps;
    const bytes = told.bytes();
    expect(told.gaps).toHaveLength(1);
    expect(gap).toMatchObject({ from_seq: 1, to_seq: (told.chunks[0]?.seq as number) - 1, bytes: total - bytes.length, reason: 'evicted' });
    expect(bytes.length).toBeGreaterThan(KEPT / 2);
    expect(bytes.toString() === expected(total - bytes.length, bytes.length)).toBe(true);
  }, 240_000);
});

const bytesIn = (dir: string): number =>
  readdirSync(dir).reduce((sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0), 0);
