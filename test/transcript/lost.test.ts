import { appendFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRecord } from '../../src/process/transcript/record.js';
import type { ProcessInfo } from '../../src/protocol/index.js';
import { markedProcesses, until } from '../support/proc.js';
import { codeOf, followAll, readAll, readUntil } from '../support/told.js';
import { Lasting } from './lasting.js';

/** Prints more than memory keeps, says so, and stays, with one in a session of its own and one that has no environment. */
const BUSY = 'trap "" TERM; setsid sleep 1000 & env -i sleep 1000 & seq 1 50000; echo ready; sleep 1000; sleep 1000';

const lines = (count: number, end: string) => Array.from({ length: count }, (_, i) => `${i + 1}${end}`).join('');

describe('a program that crashed', () => {
  const it_ = new Lasting();
  const text: Record<string, string> = {};
  const cursors: Record<string, number> = {};
  const shown: Record<string, ProcessInfo> = {};

  beforeAll(async () => {
    await it_.open();
    for (const tty of [false, true]) {
      const process_id = tty ? 'tty' : 'pipe';
      await it_.process.start({ process_id, argv: ['sh', '-c', BUSY], tty, labels: { of: 'it' }, env: { LOST_TEST: it_.dir } });
      const { after_seq } = await readUntil(it_.process, process_id, 'ready');
      await it_.written(process_id);
      text[process_id] = `${lines(50_000, tty ? '\r\n' : '\n')}ready${tty ? '\r\n' : '\n'}`;
      cursors[process_id] = after_seq;
      shown[process_id] = await it_.process.get(process_id);
    }
    await it_.process.start({ process_id: 'done', argv: ['sh', '-c', 'seq 1 50000; exit 3'] });
    await readAll(it_.process, 'done');
    await it_.process.start({ process_id: 'held', argv: ['sh', '-c', 'sleep 1000 & echo over; exit 4'] });
    await it_.process.get('held', { wait_ms: 30_000 });
    await until('its exit is written', () => readFileSync(it_.record('held'), 'latin1').includes('exited'));
    await it_.written('held');
    await it_.process.start({ process_id: 'purged', argv: ['true'] });
    await it_.process.terminate('purged', { purge: true });
    await it_.crash();
  }, 60_000);

  afterAll(() => it_.close());

  it.each(['pipe', 'tty'])('leaves its output to be read, and what may be missing is told (%s)', async (process_id) => {
    for (const told of [await readAll(it_.process, process_id), await followAll(it_.process, process_id)]) {
      expect(told.text()).toBe(text[process_id]);
      expect(told.gaps).toEqual([
        expect.objectContaining({ from_seq: (told.chunks.at(-1)?.seq as number) + 1, bytes: null, reason: 'lost' }),
      ]);
      expect(told.exit).toMatchObject({ exit_code: 137, signal: 'SIGKILL' });
    }
    const info = await it_.process.get(process_id);
    const { length } = text[process_id] as string;
    expect(info).toMatchObject({
      state: 'closed',
      reason: 'lost',
      exit_code: 137,
      total_bytes: length,
      retained_bytes: length,
      first_seq: 1,
    });
    const { labels, tty, pid, created_at, started_at } = shown[process_id] as ProcessInfo;
    expect(info).toMatchObject({ labels, tty, pid, created_at, started_at });
  });

  it.each(['pipe', 'tty'])('leaves cursors good (%s)', async (process_id) => {
    const told = await followAll(it_.process, process_id, { after_seq: cursors[process_id] });
    expect(told.text()).toBe('');
    expect(told.gaps).toEqual([expect.objectContaining({ from_seq: (cursors[process_id] as number) + 1, reason: 'lost' })]);
    const { next_seq } = await it_.process.get(process_id);
    expect(await codeOf(it_.process.read(process_id, { after_seq: next_seq }))).toBe('cursor_ahead');
  });

  it('leaves none of its programs running', async () => {
    const programs = () => markedProcesses(`LOST_TEST=${it_.dir}`);
    await until('all have ended', () => programs().length === 0, 60_000);
    expect(programs()).toEqual([]);
  });

  it('leaves those that had closed as they were', async () => {
    const told = await followAll(it_.process, 'done');
    expect([told.text(), told.gaps, told.exit]).toEqual([lines(50_000, '\n'), [], expect.objectContaining({ exit_code: 3 })]);
    expect(await it_.process.get('done')).toMatchObject({ reason: 'exited', exit_code: 3, stdin: { open: false } });
    expect(await it_.process.terminate('done')).toEqual({ running: false });
    expect(await codeOf(it_.process.write('done', Buffer.from('x')))).toBe('process_exited');
    expect(await codeOf(it_.process.signal('done', { signal: 'TERM' }))).toBe('process_exited');
    expect(await codeOf(it_.process.resize('tty', { cols: 9, rows: 9 }))).toBe('process_exited');
  });

  it('leaves an exit as it was told, although the output was still open', async () => {
    const told = await followAll(it_.process, 'held');
    expect([told.text(), told.exit]).toEqual(['over\n', expect.objectContaining({ exit_code: 4, signal: null })]);
    expect(told.gaps).toMatchObject([{ from_seq: 3, reason: 'lost' }]);
    expect(await it_.process.get('held')).toMatchObject({ state: 'closed', reason: 'exited', exit_code: 4 });
  });

  it('lists them oldest first, as ever, page by page', async () => {
    const first = await it_.process.list({ limit: 2 });
    const second = await it_.process.list({ limit: 2, cursor: first.next_cursor as string });
    const ids = [...first.processes, ...second.processes].map(({ process_id }) => process_id);
    expect(ids).toEqual(['pipe', 'tty', 'done', 'held']);
    expect(it_.stderr).toContain('3 processes');
  });

  it('leaves a screen that can be looked at', async () => {
    const { text } = await it_.process.screen('tty');
    expect(JSON.stringify(text)).toContain('ready');
  });

  it('tells the same after another crash', async () => {
    const before = await followAll(it_.process, 'pipe');
    const info = await it_.process.get('pipe');
    await it_.crash();
    expect(await it_.process.get('pipe')).toEqual(info);
    const after = await followAll(it_.process, 'pipe');
    expect([after.text(), after.gaps, after.exit]).toEqual([before.text(), before.gaps, before.exit]);
  });
});

describe('damage that a crash leaves', () => {
  const it_ = new Lasting();
  const HARMS: [id: string, harm: (file: string) => void][] = [
    ['torn', (file) => truncateSync(file, statSync(file).size - 7)],
    ['followed', (file) => appendFileSync(file, Buffer.alloc(1000))],
    ['changed', (file) => writeFileSync(file, readFileSync(file).fill(0xff, 40_000, 40_001))],
    ['gone', (file) => rmSync(file)],
  ];
  const CUT: [facts: string, first: 'exited' | 'closed_seq'][] = [
    ['how it ended', 'exited'],
    ['that it closed', 'closed_seq'],
  ];
  const ended: Record<string, ProcessInfo> = {};
  const once = { process_id: 'damaged', argv: ['sleep', '1000'] };

  beforeAll(async () => {
    await it_.open();
    for (const [process_id] of HARMS) {
      await it_.process.start({ process_id, argv: ['sh', '-c', 'seq 1 20000; echo ready; exec sleep 1000'] });
      await readUntil(it_.process, process_id, 'ready');
      await it_.written(process_id);
    }
    await it_.process.start(once, { once: true });
    for (const [, process_id] of CUT) {
      await it_.process.start({ process_id, argv: ['sh', '-c', 'seq 1 20000; exit 3'] });
      await readAll(it_.process, process_id);
      ended[process_id] = await it_.process.get(process_id);
      await until('its end is written', () => readFileSync(it_.record(process_id), 'latin1').includes('closed_seq'));
      await it_.sealed(process_id);
    }
    await it_.crash(() => {
      for (const [, process_id] of CUT) cutRecord(it_.record(process_id), process_id);
      for (const [process_id, harm] of HARMS) harm(it_.output(process_id)[0] as string);
      const record = it_.record('damaged');
      writeFileSync(record, readFileSync(record).fill(0xff, 20, 21));
    });
  }, 60_000);
  afterAll(() => it_.close());

  it.each(HARMS)('is cut off and told: %s', async (process_id) => {
    const told = await followAll(it_.process, process_id);
    const text = `${lines(20_000, '\n')}ready\n`;
    expect(text.startsWith(told.text())).toBe(true);
    expect(told.text() === text).toBe(process_id === 'followed');
    expect(told.gaps).toMatchObject([{ from_seq: told.chunks.length + 1, reason: 'lost' }]);
    expect((await it_.process.get(process_id)).total_bytes).toBe(told.bytes().length);
  });

  it.each(CUT)('of the record of a process: its output tells %s', async (_, process_id) => {
    const told = await followAll(it_.process, process_id);
    expect([told.text(), told.gaps, told.exit]).toEqual([lines(20_000, '\n'), [], expect.objectContaining({ exit_code: 3 })]);
    const { exited_at: _exited_at, closed_at: _closed_at, stdin: _stdin, ...same } = ended[process_id] as ProcessInfo;
    expect(await it_.process.get(process_id)).toMatchObject(same);
  });

  it('of the record of a process: its id stays spent', async () => {
    expect(await codeOf(it_.process.get('damaged'))).toBe('process_not_found');
    expect(await codeOf(it_.process.start(once, { once: true }))).toBe('process_exists');
    expect(it_.files()).not.toContain(join(it_.dir, 'transcripts', 'damaged'));
  });
});

/** The record of a process as it is when the last of it never reached the disk, from a fact on. */
function cutRecord(path: string, fact: string): void {
  const file = readFileSync(path);
  let at = 0;
  for (let found = readRecord(file, 0); found && !(fact in (found.content as { json: object }).json); found = readRecord(file, at))
    at = found.end;
  truncateSync(path, at);
}
