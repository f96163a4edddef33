import { describe, expect, it } from 'vitest';
import type { ChangeEvent, WatchQuery } from '../../src/protocol/index.js';
import { BACKENDS, useBackend } from '../support/backends.js';
import { readAll, readUntil } from '../support/told.js';

describe.each([...BACKENDS, 'hosted'] as const)('%s', (name) => {
  const backend = useBackend(name);

  /** A watcher: `until` reads on to a change; `left` leaves and resolves when the loop is over. */
  async function watch(query: WatchQuery = {}) {
    const leave = new AbortController();
    const iterator = (await backend.process.watch(query, { signal: leave.signal }))[Symbol.asyncIterator]();
    const seen: ChangeEvent[] = [];
    const until = async (wanted: (change: ChangeEvent) => boolean) => {
      for (let from = 0; ; from = seen.length) {
        if (from > 0 && seen.slice(mark).some(wanted)) break;
        const { done, value } = await iterator.next();
        if (done) throw new Error(`The watch ended after ${JSON.stringify(seen.slice(-3))}`);
        seen.push(...value);
      }
      mark = seen.length;
      return seen;
    };
    let mark = 0;
    const left = async () => {
      leave.abort();
      expect(await iterator.next()).toMatchObject({ done: true });
    };
    return { until, seen, left };
  }

  const is = (event: ChangeEvent['event'], id?: string) => (change: ChangeEvent) =>
    change.event === event &&
    (id === undefined || ('process' in change ? change.process.process_id : 'process_id' in change && change.process_id) === id);

  const brief = (changes: ChangeEvent[]) =>
    changes
      .filter(({ event }) => event !== 'output')
      .map((change) =>
        'process' in change
          ? `${change.event} ${change.process.process_id}`
          : 'process_id' in change
            ? `${change.event} ${change.process_id}`
            : change.event,
      );

  it('a snapshot comes first, then each change in order', async () => {
    await backend.start(['cat'], { process_id: 'before', pipe_stdin: true, labels: { a: 'b' } });
    const watcher = await watch();
    const [snapshot] = await watcher.until(is('snapshot'));
    expect(snapshot).toMatchObject({ event: 'snapshot', processes: [{ process_id: 'before', state: 'running', labels: { a: 'b' } }] });
    expect((snapshot as { processes: unknown[] }).processes).toEqual((await backend.process.list()).processes);

    await backend.sh('exit 3', { process_id: 'after' });
    await watcher.until(is('closed', 'after'));
    await backend.process.terminate('after', { purge: true });
    await watcher.until(is('removed', 'after'));
    expect(brief(watcher.seen)).toEqual(['snapshot', 'started after', 'exited after', 'closed after', 'removed after']);
    expect(watcher.seen[1]).toMatchObject({ process: { state: 'running', exit_code: null } });
    expect(watcher.seen[2]).toMatchObject({ process: { state: 'exited', exit_code: 3, reason: 'exited' } });
    expect(watcher.seen[3]).toMatchObject({ process: { state: 'closed', exit_code: 3 } });
    const ids = watcher.seen.map((change) => ('id' in change ? change.id : 0));
    expect(ids).toEqual(ids.map((_, i) => (ids[0] as number) + i));
    await watcher.left();
  });

  it('by label: others are not told', async () => {
    await backend.start(['true'], { process_id: 'other' });
    await readAll(backend.process, 'other');
    const watcher = await watch({ label: ['team=x'] });
    expect(await watcher.until(is('snapshot'))).toMatchObject([{ processes: [] }]);
    await backend.start(['true'], { process_id: 'y', labels: { team: 'y' } });
    await readAll(backend.process, 'y');
    await backend.start(['true'], { process_id: 'x', labels: { team: 'x' } });
    await watcher.until(is('closed', 'x'));
    expect(brief(watcher.seen)).toEqual(['snapshot', 'started x', 'exited x', 'closed x']);
    await watcher.left();
    const late = await watch({ label: ['team=y'] });
    expect(await late.until(is('snapshot'))).toMatchObject([{ processes: [{ process_id: 'y', state: 'closed' }] }]);
    await late.left();
  });

  it('with output: all that is printed from now on, before the end of its process', async () => {
    await backend.sh('echo old; read x; seq 1 20000', { process_id: 'a', pipe_stdin: true });
    await readUntil(backend.process, 'a', 'old');
    const watcher = await watch({ output: true });
    await watcher.until(is('snapshot'));
    await backend.sh('seq 1 20000 >&2', { process_id: 'b' });
    await backend.process.write('a', Buffer.from('\n'));
    await watcher.until(is('closed'));
    const closed = () => watcher.seen.filter(is('closed')).length;
    if (closed() < 2) await watcher.until(is('closed'));
    for (const [id, stream] of [
      ['a', 'stdout'],
      ['b', 'stderr'],
    ] as const) {
      const output = watcher.seen.filter((change) => change.event === 'output' && change.process_id === id) as Output[];
      expect(Buffer.concat(output.map(({ chunk }) => chunk)).length).toBe(108_894);
      expect(new Set(output.map((change) => change.stream))).toEqual(new Set([stream]));
      const seqs = output.map(({ seq }) => seq);
      expect(seqs).toEqual([...seqs].sort((p, q) => p - q));
      const last = watcher.seen.findLastIndex((change) => change.event === 'output' && change.process_id === id);
      expect(last).toBeLessThan(watcher.seen.findIndex(is('closed', id)));
    }
    await watcher.left();
  });

  it('without output: none', async () => {
    const watcher = await watch();
    await watcher.until(is('snapshot'));
    await backend.sh('echo hi', { process_id: 'a' });
    await watcher.until(is('closed', 'a'));
    expect(watcher.seen.some(is('output'))).toBe(false);
    await watcher.left();
  });

  it('with output, taken up after the last id: what was printed meanwhile is told, also of processes that came and went', async () => {
    await backend.start(['cat'], { process_id: 'cat', pipe_stdin: true });
    await backend.process.write('cat', Buffer.from('before'));
    await readUntil(backend.process, 'cat', 'before');
    const first = await watch({ output: true });
    await first.until(is('snapshot'));
    await backend.process.write('cat', Buffer.from('seen'));
    await first.until(is('output', 'cat'));
    await first.left();
    await backend.process.write('cat', Buffer.from('missed'));
    await readUntil(backend.process, 'cat', 'missed');
    await backend.sh('echo came and went', { process_id: 'brief' });
    await backend.sh('seq 1 20000', { process_id: 'large', retain_bytes: 10_000 });
    for (const id of ['brief', 'large']) await readAll(backend.process, id);

    const second = await watch({ output: true, after_id: first.seen.at(-1)?.id });
    await second.until(is('snapshot'));
    const outputs = () => second.seen.filter((change) => change.event === 'output' || change.event === 'gap') as (Output | GapChange)[];
    const told = (id: string) => outputs().filter(({ process_id }) => process_id === id);
    const bytes = (id: string) =>
      told(id).reduce((sum, change) => sum + (change.event === 'gap' ? (change.bytes ?? 0) : change.chunk.length), 0);
    while (bytes('cat') < 6 || bytes('brief') < 14 || bytes('large') < 108_894) await second.until(({ event }) => event === 'output');
    await second.left();
    expect(told('cat').map((change) => change.event === 'output' && Buffer.from(change.chunk).toString())).toEqual(['missed']);
    expect(told('brief').map(({ event }) => event)).toEqual(['output']);
    // A host has a data directory: what memory gave up is read from there.
    expect(told('large')[0]).toMatchObject(name === 'hosted' ? { event: 'output', seq: 1 } : { event: 'gap', from_seq: 1 });
    expect(bytes('large')).toBe(108_894);
  });

  it('with output, broken off anywhere and taken up by the id: all of it is told', async () => {
    const ids = ['p', 'q', 'r'];
    const told = new Map<string, number>();
    const total = (id: string) => [...told].reduce((sum, [key, bytes]) => sum + (key.startsWith(id) ? bytes : 0), 0);
    const complete = () => ids.every((id) => total(id) === SEQ_60000);
    let after_id: number | undefined;
    /** Takes the next events of a watch and breaks it off, in the middle of a batch or not. */
    const take = async (count: number) => {
      const leave = new AbortController();
      let left = count;
      for await (const batch of await backend.process.watch({ output: true, after_id }, { signal: leave.signal })) {
        const seen = batch.slice(0, left);
        for (const change of seen) if (change.event === 'output') told.set(`${change.process_id} ${change.seq}`, change.chunk.length);
        after_id = seen.at(-1)?.id;
        left -= seen.length;
        if (left === 0 || complete()) leave.abort();
      }
    };
    for (const process_id of ids) await backend.sh('read x; seq 1 60000', { process_id, pipe_stdin: true });
    await take(1);
    for (const id of ids) await backend.process.write(id, Buffer.from('\n'));
    for (let connection = 0; !complete(); connection++) await take(2 + ((connection * 37) % 300));
    for (const id of ids) expect([id, total(id)]).toEqual([id, SEQ_60000]);
  });

  it('many watchers see the same changes', async () => {
    const watchers = await Promise.all(Array.from({ length: 20 }, () => watch()));
    await Promise.all(watchers.map((watcher) => watcher.until(is('snapshot'))));
    for (let i = 0; i < 10; i++) await backend.start(['true'], { process_id: `p${i}` });
    for (let i = 0; i < 10; i++) await readAll(backend.process, `p${i}`);
    const seen = await Promise.all(
      watchers.map(async (watcher) => {
        while (watcher.seen.filter(is('closed')).length < 10) await watcher.until(is('closed'));
        await watcher.left();
        return brief(watcher.seen);
      }),
    );
    for (const changes of seen) expect(changes).toEqual(seen[0]);
    expect(seen[0]).toHaveLength(31);
  });
});

/** The size of the numbers to 60000, in bytes. */
const SEQ_60000 = 348_894;

type Output = Extract<ChangeEvent, { event: 'output' }>;
type GapChange = Extract<ChangeEvent, { event: 'gap' }>;
