import { expect, test } from 'vitest';
import { GatewayError, type ProcessInfo, type WriteOptions } from '../../src/protocol/index.js';
import { AttachInput } from '../../src/routes/attach-input.js';
import type { SameProcess } from '../../src/routes/same-process.js';

test('the end of the input waits behind what others write, however long they take', async () => {
  const writes: WriteOptions[] = [];
  const write = async (_bytes: Uint8Array, options: WriteOptions) => {
    writes.push(options);
    if (writes.length < 3) throw new GatewayError('stdin_backpressure', 'Others are before.', { accepted_bytes: 1000 * writes.length });
    return { accepted_bytes: 2000 };
  };
  const told: unknown[] = [];
  const input = new AttachInput({ write } as unknown as SameProcess, { accepted_bytes: 0 } as ProcessInfo['stdin'], false, {
    pause: () => told.push('pause'),
    resume: () => told.push('resume'),
    accepted: (accepted_bytes) => told.push(accepted_bytes),
    refused: (about, error) => told.push([about, error.code]),
  });
  input.end();
  await input.settled();
  expect(writes).toEqual([{ eof: true }, { eof: true }, { eof: true }]);
  expect(told).toEqual([2000]);
});
