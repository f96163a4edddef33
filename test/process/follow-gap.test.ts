import { expect, test } from 'vitest';
import { EventLog } from '../../src/process/event-log.js';
import { FollowCursor } from '../../src/process/follow-cursor.js';
import { Pacer } from '../../src/process/pacer.js';

test('a follower is told exactly how much it missed, even beyond what the log remembers of evicted events', async () => {
  const log = new EventLog(10);
  const pacer = new Pacer(log, { pause() {}, resume() {} });
  log.append('stdout', Buffer.from('abc'));
  const events = new FollowCursor(log, pacer, {})[Symbol.asyncIterator]();
  expect((await events.next()).value).toMatchObject([{ event: 'output', seq: 1 }]);
  for (let i = 0; i < 200_000; i++) log.append('stdout', Buffer.from('xy'));
  const batch = (await events.next()).value ?? [];
  expect(batch[0]).toEqual({ event: 'gap', from_seq: 2, to_seq: 199_996, bytes: 2 * 199_995, reason: 'evicted' });
  expect(batch.length).toBe(6);
  await events.return?.();
  pacer.close();
});
