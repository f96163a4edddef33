import { expect, test } from 'vitest';
import { EventLog } from '../../src/process/event-log.js';
import { FollowCursor } from '../../src/process/follow-cursor.js';
import { Pacer } from '../../src/process/pacer.js';
import type { ProcessEvent } from '../../src/protocol/index.js';

const KIB = 1024;

/** What a stalled reader keeps in memory is one batch. */
test.each([
  { readers: 3, most_bytes: 256 * KIB },
  { readers: 128, most_bytes: 128 * KIB },
  { readers: 1000, most_bytes: 64 * KIB },
])('$readers readers at the same place share their batches, of one stream too, none larger than $most_bytes bytes', async (expected) => {
  const log = new EventLog(1024 * KIB);
  const pacer = new Pacer(log, { pause() {}, resume() {} });
  for (let i = 0; i < 100; i++) log.append('stdout', new Uint8Array(10_000));
  const readers = Array.from({ length: expected.readers }, (_, i) =>
    new FollowCursor(log, pacer, { stream: i % 3 === 2 ? 'stdout' : undefined })[Symbol.asyncIterator](),
  );
  for (let bytes = 0; bytes < 1_000_000; ) {
    const [first, ...others] = await Promise.all(readers.map(async (reader) => (await reader.next()).value as ProcessEvent[]));
    for (const other of others) expect(other).toBe(first);
    const size = first?.reduce((sum, event) => sum + (event.event === 'output' ? event.chunk.length : 0), 0) ?? 0;
    expect(size).toBeLessThanOrEqual(expected.most_bytes);
    expect(size).toBeGreaterThan(Math.min(expected.most_bytes - 10_000, 1_000_000 - bytes - 1));
    bytes += size;
  }
  pacer.close();
});
