import { expect, test } from 'vitest';
import { encodeOnce } from '../../src/routes/shared-bytes.js';

test('a batch is encoded once for all who hold it, and by each encoding apart', () => {
  let made = 0;
  const hex = encodeOnce((batch: string[]) => Buffer.from(`${++made} ${batch.join(',')}`));
  const other = encodeOnce((batch: string[]) => Buffer.from(batch.join(';')));
  const batch = ['a', 'b'];
  expect(String(hex(batch))).toBe('1 a,b');
  expect(hex(batch)).toBe(hex(batch));
  expect(String(other(batch))).toBe('a;b');
  expect(String(hex(['a', 'b']))).toBe('2 a,b');
});
