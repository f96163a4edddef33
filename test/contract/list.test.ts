import { describe, expect, it } from 'vitest';
import type { ListQuery } from '../../src/protocol/index.js';
import { BACKENDS, useBackend } from '../support/backends.js';
import { codeOf, errorOf, readAll } from '../support/told.js';

describe.each(BACKENDS)('%s', (name) => {
  const backend = useBackend(name);
  const ids = async (query?: ListQuery) => (await backend.process.list(query)).processes.map(({ process_id }) => process_id);

  async function startAll(names: string[], argv = ['true']): Promise<void> {
    for (const process_id of names) await backend.start(argv, { process_id });
  }

  it('all processes, oldest first, as they are shown one by one', async () => {
    await startAll(['c', 'a', 'b']);
    for (const id of ['c', 'a', 'b']) await readAll(backend.process, id);
    const { processes, next_cursor } = await backend.process.list();
    expect(processes.map(({ process_id }) => process_id)).toEqual(['c', 'a', 'b']);
    expect(next_cursor).toBeNull();
    for (const process of processes) expect(await backend.process.get(process.process_id)).toEqual(process);
  });

  it('page by page: each process once, null at the end', async () => {
    const names = Array.from({ length: 7 }, (_, i) => `p${i}`);
    await startAll(names);
    for (const limit of [1, 2, 3, 7, 8]) {
      const pages: string[][] = [];
      let cursor: string | null = null;
      do {
        const page = await backend.process.list({ limit, ...(cursor === null ? {} : { cursor }) });
        pages.push(page.processes.map(({ process_id }) => process_id));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(pages.flat()).toEqual(names);
      expect(pages).toHaveLength(Math.ceil(names.length / limit));
    }
  });

  it('a cursor holds though processes come and go', async () => {
    await startAll(['a', 'b', 'c', 'd']);
    const { next_cursor } = await backend.process.list({ limit: 2 });
    for (const id of ['a', 'b', 'c']) await backend.process.terminate(id, { purge: true });
    await startAll(['e']);
    expect(await ids({ cursor: next_cursor as string })).toEqual(['d', 'e']);
  });

  it('by label: all that are given have to match, values may hold "="', async () => {
    await backend.start(['true'], { process_id: 'a', labels: { team: 'x', tier: '1' } });
    await backend.start(['true'], { process_id: 'b', labels: { team: 'x', tier: '2', eq: 'p=q', ü: '漢' } });
    await backend.start(['true'], { process_id: 'c', labels: { team: 'y', constructor: '', empty: '' } });
    await backend.start(['true'], { process_id: 'd' });
    expect(await ids({ label: ['team=x'] })).toEqual(['a', 'b']);
    expect(await ids({ label: ['team=x', 'tier=2'] })).toEqual(['b']);
    expect(await ids({ label: ['team=x', 'team=y'] })).toEqual([]);
    expect(await ids({ label: ['eq=p=q'] })).toEqual(['b']);
    expect(await ids({ label: ['ü=漢'] })).toEqual(['b']);
    expect(await ids({ label: ['empty='] })).toEqual(['c']);
    expect(await ids({ label: ['toString='] })).toEqual([]);
    expect(await ids({ label: ['nothing=x'] })).toEqual([]);
    const page = await backend.process.list({ label: ['team=x'], limit: 1 });
    expect(page.processes).toMatchObject([{ process_id: 'a' }]);
    expect(await ids({ label: ['team=x'], limit: 1, cursor: page.next_cursor as string })).toEqual(['b']);
    for (const label of ['team', '', '=x']) {
      expect(await errorOf(backend.process.list({ label: [label] }))).toMatchObject({
        code: 'invalid_request',
        fields: { field: 'label' },
      });
    }
  });

  it('by state', async () => {
    await backend.start(['cat'], { process_id: 'running', pipe_stdin: true });
    await backend.sh('sleep 60 & exit 0', { process_id: 'exited' });
    await backend.start(['true'], { process_id: 'closed' });
    await backend.process.get('exited', { wait_ms: 20_000 });
    await readAll(backend.process, 'closed');
    expect(await ids({ state: 'running' })).toEqual(['running']);
    expect(await ids({ state: 'exited' })).toEqual(['exited']);
    expect(await ids({ state: 'closed' })).toEqual(['closed']);
    expect(await ids({ state: 'starting' })).toEqual([]);
    expect(await ids()).toEqual(['running', 'exited', 'closed']);
  });

  it('a cursor that no list gave is refused', async () => {
    for (const cursor of ['x', '', '-1', '1.5', '0']) {
      expect(await codeOf(backend.process.list({ cursor }))).toBe('invalid_cursor');
    }
  });
});
