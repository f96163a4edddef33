import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TranscriptAbout } from '../../src/protocol/index.js';
import { parseCast } from '../support/cast.js';
import { readAll, readUntil } from '../support/told.js';
import { Lasting } from './lasting.js';

const it_ = new Lasting();
beforeAll(() => it_.open());
afterAll(() => it_.close());

async function taken(format: 'raw' | 'asciicast'): Promise<{ about: TranscriptAbout; bytes: Buffer }> {
  const { about, body } = await it_.process.transcript('shown', { format });
  const parts: Uint8Array[] = [];
  for await (const block of body) parts.push(Buffer.from(block));
  return { about, bytes: Buffer.concat(parts) };
}

test('what was closed before a crash is the same transcript after it, and the same recording', async () => {
  const script = 'seq 1 30000; echo wide; read x; seq 1 30000';
  await it_.process.start({ process_id: 'shown', argv: ['sh', '-c', script], tty: { cols: 50, rows: 20 } });
  await readUntil(it_.process, 'shown', 'wide');
  await it_.process.resize('shown', { cols: 100, rows: 40 });
  await it_.process.write('shown', Buffer.from('\n'));
  await readAll(it_.process, 'shown');
  await it_.written('shown');
  const before = { raw: await taken('raw'), cast: parseCast((await taken('asciicast')).bytes) };
  await it_.crash();
  const after = { raw: await taken('raw'), cast: parseCast((await taken('asciicast')).bytes) };
  expect(after.raw.about).toEqual(before.raw.about);
  expect(after.raw.bytes.equals(before.raw.bytes)).toBe(true);
  expect(after.cast.header).toEqual({ ...before.cast.header, width: 50, height: 20 });
  expect(after.cast.text).toBe(before.raw.bytes.toString());
  const untimed = ({ events }: typeof after.cast) => events.map(([, ...what]) => what);
  expect(untimed(after.cast)).toEqual(untimed(before.cast));
  expect(after.cast.events.filter(([, code]) => code === 'r')).toEqual([[expect.any(Number), 'r', '100x40']]);
});
