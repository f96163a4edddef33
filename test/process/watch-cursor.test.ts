import { afterAll, expect, test, vi } from 'vitest';
import { EventLog } from '../../src/process/event-log.js';
import { LocalExecProcess } from '../../src/process/local-exec-process.js';
import { DEFAULT_LIMITS, ProcessHandler } from '../../src/process/process-handler.js';
import { GatewayError } from '../../src/protocol/index.js';

const handler = new ProcessHandler(DEFAULT_LIMITS);
afterAll(() => handler.shutdown(0));

test('a watcher that meets an error leaves nothing of itself', async () => {
  const processes = new LocalExecProcess(handler);
  const watch = (await processes.watch({ output: true }))[Symbol.asyncIterator]();
  expect((await watch.next()).value).toMatchObject([{ event: 'snapshot' }]);
  expect([handler.changes.watchers, handler.taps.size]).toEqual([1, 1]);
  vi.spyOn(EventLog.prototype, 'archived').mockReturnValue(true);
  vi.spyOn(EventLog.prototype, 'fetch').mockRejectedValue(new GatewayError('resource_exhausted', 'No file can be opened.'));
  const told = (async () => {
    while (!(await watch.next()).done);
  })();
  await processes.start({ argv: ['echo'] });
  await expect(told).rejects.toMatchObject({ code: 'resource_exhausted' });
  expect([handler.changes.watchers, handler.taps.size]).toEqual([0, 0]);
  vi.restoreAllMocks();
});
