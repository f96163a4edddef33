import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/protocol/index.js';
import { BACKENDS_AND_SOCKETS, useBackend } from '../support/backends.js';
import { until } from '../support/proc.js';
import { bytesOf, followAll, readAll } from '../support/told.js';

const LINES = Array.from({ length: 100_000 }, (_, i) => `${i + 1}`);
const ON_PIPE = `${LINES.join('\n')}\n`;
const ON_TTY = `${LINES.join('\r\n')}\r\n`;

describe.each(BACKENDS_AND_SOCKETS)('%s, with a data directory', (name) => {
  const backend = useBackend(name, { data_dir: true, limits: { retain_bytes: 20_000 } });

  it.each([false, true])('nobody has to read in time: output that memory gave up is there, whoever asks (tty: %s)', async (tty) => {
    const { process_id } = await backend.start(['seq', '1', '100000'], { tty });
    await backend.process.get(process_id, { wait_ms: 30_000 });
    const text = tty ? ON_TTY : ON_PIPE;
    for (const told of [await readAll(backend.process, process_id), await followAll(backend.process, process_id)]) {
      expect(told.gaps).toEqual([]);
      expect(told.text()).toBe(text);
      expect(told.exit).toMatchObject({ exit_code: 0 });
    }
    const info = await backend.process.get(process_id);
    expect(info).toMatchObject({ first_seq: 1, retained_bytes: text.length, total_bytes: text.length });
    const { chunks, gap } = await backend.process.read(process_id, { after_seq: 3, max_bytes: 400_000 });
    expect([gap, chunks[0]?.seq]).toEqual([null, 4]);
    const [start, length] = [text.indexOf(bytesOf(chunks).toString()), bytesOf(chunks).length];
    expect(start).toBeGreaterThan(0);
    expect(length).toBeGreaterThan(300_000); // as much as was asked for, not only a piece of it
  });

  it('one stream of two is found in it, however long the other', async () => {
    const { process_id } = await backend.sh('echo first >&2; seq 1 100000; echo last >&2; seq 1 100000');
    const told = await readAll(backend.process, process_id, { stream: 'stderr' });
    expect([told.text(), told.gaps]).toEqual(['first\nlast\n', []]);
    expect((await followAll(backend.process, process_id, { stream: 'stderr' })).text()).toBe('first\nlast\n');
  });

  it('a watch that is taken up again tells it all', async () => {
    const leave = new AbortController();
    let after_id = 0;
    for await (const changes of await backend.process.watch({ output: true }, { signal: leave.signal })) {
      after_id = changes.at(-1)?.id as number;
      leave.abort();
    }
    const { process_id } = await backend.start(['seq', '1', '100000']);
    await readAll(backend.process, process_id);
    const seen: ChangeEvent[] = [];
    for await (const changes of await backend.process.watch({ output: true, after_id })) {
      seen.push(...changes);
      const bytes = seen.reduce((sum, change) => sum + (change.event === 'output' ? change.chunk.length : 0), 0);
      if (bytes >= ON_PIPE.length) break;
    }
    expect(seen.filter(({ event }) => event === 'gap')).toEqual([]);
    expect(Buffer.concat(seen.flatMap((change) => (change.event === 'output' ? [change.chunk] : []))).toString()).toBe(ON_PIPE);
  });

  it('a process that is forgotten leaves nothing on disk, and its id can be used again', async () => {
    for (const round of [1, 2, 3]) {
      await backend.sh(`seq 1 20000; echo ${round}`, { process_id: 'again' });
      const told = await readAll(backend.process, 'again');
      expect(told.text().endsWith(`\n20000\n${round}\n`)).toBe(true);
      await backend.process.terminate('again', { purge: true });
    }
    const left = () => readdirSync(join(backend.data_dir, 'transcripts'));
    await until('nothing is left', () => !left().includes('again'));
  });
});
