import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SpentIds } from '../../src/process/transcript/spent-ids.js';

const dir = mkdtempSync(join(tmpdir(), 'spent-'));
const path = join(dir, 'spent');
afterAll(() => rmSync(dir, { recursive: true }));

test('ids in front of a damaged one and behind it stay spent, also after the next start', async () => {
  const written = new SpentIds(path);
  for (const id of ['first', 'second', 'third', 'fourth']) await written.add(id);
  const bytes = readFileSync(path);
  bytes[bytes.indexOf('second')] = 0;
  writeFileSync(path, bytes.subarray(0, -1)); // and the last one is torn
  for (let start = 0; start < 2; start++) {
    const read = new SpentIds(path);
    expect(['first', 'second', 'third', 'fourth'].map((id) => read.has(id))).toEqual([true, false, true, false]);
  }
});
