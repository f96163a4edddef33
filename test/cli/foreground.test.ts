import { expect, test } from 'vitest';
import { Foreground } from '../../src/cli/foreground.js';
import { retrySettings } from '../../src/client/retry.js';
import { Environment } from '../../src/environment.js';
import type { ProcessEvent } from '../../src/protocol/index.js';

test('a process that has ended when its screen is shown is known to have ended, and how', async () => {
  const { process: processes } = Environment.create({});
  const {
    process: { process_id },
  } = await processes.start({ argv: ['sh', '-c', 'printf hi; exit 3'], tty: {} });
  for await (const batch of await processes.follow(process_id)) if (batch.at(-1)?.event === 'closed') break;
  const foreground = new Foreground(processes, await processes.get(process_id), retrySettings());
  const shown: ProcessEvent[] = [];
  await foreground.beginWithScreen();
  const outcome = await foreground.follow({ take: async (events) => void shown.push(...events) }, null);
  expect(outcome).toEqual({ left: 'ended', exit: { exit_code: 3, signal: null }, closed: true });
  expect(shown.map((event) => (event.event === 'output' ? Buffer.from(event.chunk).toString() : event.event)).join()).toContain('hi');
});
