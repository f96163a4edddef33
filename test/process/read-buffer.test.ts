import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readNow } from '../../src/process/read-buffer.js';

function read(path: string): Buffer {
  const parts: Buffer[] = [];
  const fd = openSync(path, 'r');
  readNow(fd, (bytes) => parts.push(Buffer.from(bytes)));
  closeSync(fd);
  return Buffer.concat(parts);
}

test('what never ends is read for one turn only', () => {
  const { length } = read('/dev/zero');
  expect(length).toBeGreaterThanOrEqual(256 * 1024);
  expect(length).toBeLessThanOrEqual(320 * 1024);
});

test('what ends is read whole', () => {
  const path = join(tmpdir(), `read-buffer-${process.pid}`);
  writeFileSync(path, 'x'.repeat(100_000));
  expect(read(path).toString()).toBe('x'.repeat(100_000));
  rmSync(path);
  expect(read('/dev/null')).toHaveLength(0);
});
