import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { retrySettings } from '../../src/client/retry.js';
import { uploadInParts } from '../../src/client/upload-in-parts.js';
import { type ExecutorFileSystem, type FileBody, GatewayError, type Upload } from '../../src/protocol/index.js';

const SIZE = 3;
const begun: Upload = { upload_id: 'u'.repeat(22), size_bytes: SIZE, offset_bytes: 0, complete: false, expires_at: null };
const source = {
  size_bytes: SIZE,
  async *read(offset: number) {
    for (let at = offset; at < SIZE; at++) yield Uint8Array.of(at);
  },
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a body that is read on when its call has failed leaves no timer, which would keep the program from its end', async () => {
  let body: AsyncIterator<Uint8Array> | null = null;
  const system = {
    createUpload: async () => begun,
    appendUpload: async (_name: unknown, _offset: number, sent: FileBody) => {
      body = (sent as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
      await body.next();
      throw new GatewayError('no_space', 'The disk is full.');
    },
    cancelUpload: async () => {},
  } as Partial<ExecutorFileSystem> as ExecutorFileSystem;
  await expect(uploadInParts(system, { path: '/f' }, source, {}, retrySettings())).rejects.toThrow('The disk is full.');
  const rest = body as unknown as AsyncIterator<Uint8Array>;
  while (!(await rest.next()).done);
  expect(vi.getTimerCount()).toBe(0);
});
