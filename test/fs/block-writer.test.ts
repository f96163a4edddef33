import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { BlockWriter } from '../../src/fs/block-writer.js';

const dir = mkdtempSync(join(tmpdir(), 'blocks-'));
afterAll(() => rmSync(dir, { recursive: true }));

test('what is written is what was taken, in whatever parts, though their memory is used again', async () => {
  const noise = randomBytes(2 * 1024 * 1024);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fc.nat(1000), fc.nat(noise.length)), { maxLength: 10 }), async (lengths) => {
      const handle = await open(join(dir, 'f'), 'w');
      const writer = new BlockWriter(handle);
      const memory = Buffer.alloc(noise.length);
      for (const length of lengths) {
        noise.copy(memory, 0, 0, length);
        await writer.write(memory.subarray(0, length));
        memory.fill(0, 0, length);
      }
      await writer.flush();
      await handle.close();
      expect(readFileSync(join(dir, 'f')).equals(Buffer.concat(lengths.map((length) => noise.subarray(0, length))))).toBe(true);
    }),
    { numRuns: 40, examples: [[[]], [[0]], [[524_288, 1]], [[524_287, 1, 1]], [[1, 524_288]]] },
  );
});

test('a write that fails is told by the next call, and by the last', async () => {
  const handle = await open('/dev/full', 'w');
  const writer = new BlockWriter(handle);
  const block = Buffer.alloc(300_000);
  const writing = async () => {
    for (let i = 0; i < 6; i++) await writer.write(block);
  };
  await expect(writing()).rejects.toMatchObject({ code: 'ENOSPC' });
  await expect(writer.flush()).rejects.toMatchObject({ code: 'ENOSPC' });
  const small = new BlockWriter(handle);
  await small.write(Buffer.from('few'));
  await expect(small.flush()).rejects.toMatchObject({ code: 'ENOSPC' });
  await handle.close();
});
