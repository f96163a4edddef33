import { expect, test } from 'vitest';
import { EventLog } from '../../src/process/event-log.js';
import { FollowCursor } from '../../src/process/follow-cursor.js';
import { Pacer } from '../../src/process/pacer.js';
import type { ProcessEvent } from '../../src/protocol/index.js';

/** What a stalled reader keeps in memory is one batch. */
const MOST_BYTES = 64 * 1024;

test('readers at the same place share their batches, of one stream too, and a batch is small', async () => {
  const log = new EventLog(1024 * 1024);
  const pacer = new Pacer(log, { pause() {}, resume() {} });
  for (let i = 0; i < 100; i++) log.append('stdout', new Uint8Array(10_000));
  const readers = [undefined, undefined, 'stdout' as const].map((stream) =>
    new FollowCursor(log, pacer, 0, stream)[Symbol.asyncIterator](),
  );
  for (let bytes = 0; bytes < 1_000_000; ) {
    const [first, ...others] = await Promise.all(readers.map(async (reader) => (await reader.next()).value as ProcessEvent[]));
    for (const other of others) expect(other).toBe(first);
    const size = first?.reduce((sum, event) => sum + (event.event === 'output' ? event.chunk.length : 0), 0) ?? 0;
    expect(size).toBeLessThanOrEqual(MOST_BYTES);
    bytes += size;
  }
  pacer.close();
});
