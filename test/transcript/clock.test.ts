import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChangeEvent } from '../../src/protocol/index.js';
import { until } from '../support/proc.js';
import { codeOf, followAll, readAll, readUntil } from '../support/told.js';
import { Lasting } from './lasting.js';

const NOON = Date.UTC(2030, 5, 1, 12);
const HOUR_MS = 3_600_000;
const KIB = 1024;

/** Files of 128 KiB. */
const transcripts = { transcript_bytes: 1024 * KIB, transcript_total_bytes: 64 * 1024 * KIB };

const lasting = new Lasting();

beforeAll(() => lasting.open({ clock_ms: NOON, transcripts }), 60_000);
afterAll(() => lasting.close());

/** Prints a line, and as often as it is asked to another one: each is an event of its own. */
const start = (process_id: string) =>
  lasting.process.start({ process_id, argv: ['sh', '-c', 'echo 0; while read x; do echo $x; done'], pipe_stdin: true });

async function say(process_id: string, from: number, to: number): Promise<void> {
  for (let i = from; i <= to; i++) {
    await lasting.process.write(process_id, Buffer.from(`${i}\n`));
    await readUntil(lasting.process, process_id, `\n${i}\n`);
  }
}

/** Watches with output until an event was told that is wanted. */
async function watch(wanted: (seen: ChangeEvent[]) => boolean, after_id?: number): Promise<ChangeEvent[]> {
  const leave = new AbortController();
  const seen: ChangeEvent[] = [];
  for await (const batch of await lasting.process.watch({ output: true, after_id }, { signal: leave.signal })) {
    seen.push(...batch);
    if (wanted(seen)) leave.abort();
  }
  return seen;
}

function printed(seen: ChangeEvent[], process_id: string): string {
  const chunks = seen.flatMap((change) => (change.event === 'output' && change.process_id === process_id ? [change.chunk] : []));
  return Buffer.concat(chunks).toString();
}

const lines = (last: number) => Array.from({ length: last + 1 }, (_, i) => `${i}\n`).join('');

test('a watch from before a crash is told all that came after it, also where the clock was set back to before', async () => {
  await start('a');
  await say('a', 1, 3);
  const after_id = (await watch(() => true)).at(-1)?.id;
  await lasting.written('a');
  await lasting.crash(() => {}, { clock_ms: NOON, transcripts });
  await start('b');
  await say('b', 1, 10);
  const all = (seen: ChangeEvent[]) => printed(seen, 'b').endsWith('10\n') && seen.some(({ event }) => event === 'gap');
  const seen = await watch(all, after_id);
  expect([printed(seen, 'a'), printed(seen, 'b')]).toEqual([lines(3), lines(10)]);
  expect(seen[0]).toMatchObject({ event: 'snapshot', processes: [{ process_id: 'a', reason: 'lost' }, { process_id: 'b' }] });
  // What it was told last leads on from there, and no further.
  await say('b', 11, 12);
  const more = await watch((more) => printed(more, 'b').endsWith('12\n'), seen.at(-1)?.id);
  expect([printed(more, 'a'), printed(more, 'b')]).toEqual(['', '11\n12\n']);
});

test('the list and its pages stay in the order of the starts', async () => {
  await lasting.crash(() => {}, { clock_ms: NOON - HOUR_MS, transcripts });
  for (const id of ['c', 'd', 'e']) await start(id);
  const ids = async (cursor?: string) => {
    const { processes, next_cursor } = await lasting.process.list({ limit: 2, cursor });
    return [processes.map(({ process_id }) => process_id).join(), next_cursor] as const;
  };
  const [first, cursor] = await ids();
  expect([first, cursor]).toEqual(['a,b', expect.any(String)]);
  await lasting.process.terminate('a', { purge: true });
  await lasting.crash(() => {}, { clock_ms: NOON + HOUR_MS, transcripts });
  const [second, last] = await ids(cursor as string);
  expect([second, (await ids(last as string))[0]]).toEqual(['c,d', 'e']);
  expect((await ids())[0]).toBe('b,c');
  await start('f');
  expect((await lasting.process.list()).processes.map(({ process_id }) => process_id).join()).toBe('b,c,d,e,f');
});

test('an output whose files bear other times is whole, and a process that closed in the future is kept', async () => {
  await lasting.process.start({ process_id: 'long', argv: ['sh', '-c', 'seq 1 140000'] });
  const before = await readAll(lasting.process, 'long');
  await lasting.written('long');
  const record = join(lasting.dir, 'transcripts', 'long', 'process');
  await until('its end is on disk', () => readFileSync(record, 'latin1').includes('"closed_at"'));
  await lasting.crash(
    () => {
      const files = lasting.output('long');
      expect(files.length).toBeGreaterThan(3);
      for (const [i, file] of files.entries()) utimesSync(file, 1e9 - i, 1e9 - i);
    },
    { clock_ms: NOON - HOUR_MS, transcripts, limits: { retain_closed_ms: HOUR_MS / 2 } },
  );
  const after = await followAll(lasting.process, 'long');
  expect([after.sha256(), after.gaps, after.exit]).toEqual([before.sha256(), [], expect.objectContaining({ exit_code: 0 })]);
  expect(await codeOf(lasting.process.get('a'))).toBe('process_not_found');
});
