import { describe, expect, it } from 'vitest';
import type { ProcessEvent } from '../../src/protocol/index.js';
import { BACKENDS_AND_SOCKETS, useBackend } from '../support/backends.js';
import { followAll, readAll, readUntil, sha256, type Told } from '../support/told.js';

describe.each([...BACKENDS_AND_SOCKETS, 'hosted'] as const)('%s', (name) => {
  const backend = useBackend(name);

  it('each event comes once and in order, up to closed', async () => {
    const { process_id } = await backend.sh('echo a; read x; echo b; exit 3', { pipe_stdin: true });
    const events: ProcessEvent[] = [];
    for await (const batch of await backend.process.follow(process_id)) {
      events.push(...batch);
      if (events.length === 1) await backend.process.write(process_id, Buffer.from('\n'));
    }
    const texts = events.map((event) => (event.event === 'output' ? { ...event, chunk: Buffer.from(event.chunk).toString() } : event));
    expect(texts).toEqual([
      { event: 'output', seq: 1, stream: 'stdout', chunk: 'a\n' },
      { event: 'output', seq: 2, stream: 'stdout', chunk: 'b\n' },
      { event: 'exited', seq: 3, exit_code: 3, signal: null },
      { event: 'closed', seq: 4 },
    ]);
  });

  it('a follower begins after any event, and one that has seen closed gets nothing', async () => {
    const { process_id } = await backend.sh('for i in 1 2 3 4 5; do echo $i; echo e >&2; done');
    const whole = await readAll(backend.process, process_id);
    const last = whole.chunks.length;
    for (let after_seq = 0; after_seq <= last; after_seq++) {
      const told = await followAll(backend.process, process_id, { after_seq });
      expect(told.chunks).toEqual(whole.chunks.filter(({ seq }) => seq > after_seq));
      expect(told.exit).toMatchObject({ exit_code: 0 });
    }
    expect((await followAll(backend.process, process_id, { after_seq: last + 1 })).exit).toBeNull();
    const over = await backend.process.follow(process_id, { after_seq: last + 2 });
    expect(over.ended).toBe(true);
    for await (const batch of over) expect(batch).toBe('nothing');
  });

  it('long-poll and follow tell the same of one process, and one may take over from the other', async () => {
    const { process_id } = await backend.sh('for i in $(seq 1 300); do echo line $i; done; sleep 0.05; echo end');
    const [polled, followed] = await Promise.all([readAll(backend.process, process_id), followAll(backend.process, process_id)]);
    expect(followed.chunks).toEqual(polled.chunks);
    const half = polled.chunks[polled.chunks.length >> 1]?.seq as number;
    const head = polled.chunks.filter(({ seq }) => seq <= half);
    const tail = await followAll(backend.process, process_id, { after_seq: half });
    expect([...head, ...tail.chunks]).toEqual(polled.chunks);
  });

  it('200 followers and pollers of one process all see the same bytes', async () => {
    const { process_id } = await backend.sh('read x; for i in $(seq 1 12); do seq 1 2000; sleep 0.01; done', { pipe_stdin: true });
    const followers = Array.from({ length: 190 }, () => followAll(backend.process, process_id));
    const pollers = Array.from({ length: 10 }, () => readAll(backend.process, process_id));
    await backend.process.write(process_id, Buffer.from('\n'));
    const all = await Promise.all([...followers, ...pollers]);
    const line = Buffer.from(
      Array.from({ length: 2000 }, (_, i) => `${i + 1}\n`)
        .join('')
        .repeat(12),
    );
    const seen = (told: Told) => ({ sha256: told.sha256(), gaps: told.gaps, exit: told.exit });
    const expected = { sha256: sha256(line), gaps: [], exit: { exit_code: 0, signal: null, after_chunks: expect.any(Number) } };
    for (const told of all) expect(seen(told)).toEqual(expected);
  });

  it('a follower that leaves is gone, and the others go on', async () => {
    const { process_id } = await backend.sh('while read x; do echo $x; done', { pipe_stdin: true });
    const staying = followAll(backend.process, process_id);
    for (const word of ['a', 'b', 'c']) {
      const leaving = await backend.process.follow(process_id);
      await backend.process.write(process_id, Buffer.from(`${word}\n`));
      for await (const batch of leaving) {
        expect(batch[0]).toMatchObject({ seq: 1 });
        break;
      }
    }
    await backend.process.write(process_id, new Uint8Array(), { eof: true });
    expect((await staying).text()).toBe('a\nb\nc\n');
  });

  it('a follower that is given up ends, also while it waits', async () => {
    const { process_id } = await backend.sh('echo ready; exec sleep 60');
    await readUntil(backend.process, process_id, 'ready');
    const given_up = new AbortController();
    const events: ProcessEvent[] = [];
    for await (const batch of await backend.process.follow(process_id, {}, { signal: given_up.signal })) {
      events.push(...batch);
      given_up.abort();
    }
    expect(events).toMatchObject([{ event: 'output', seq: 1 }]);
    const waiting = new AbortController();
    const iterator = (await backend.process.follow(process_id, { after_seq: 1 }, { signal: waiting.signal }))[Symbol.asyncIterator]();
    const next = iterator.next();
    waiting.abort();
    expect(await next).toMatchObject({ done: true });
    expect(await backend.process.get(process_id)).toMatchObject({ state: 'running' });
  });

  it.each([512 * 1024, 64 * 1024, 4096, 1])(
    'a follower that keeps up misses nothing of a fast program, though %i bytes are retained',
    async (retain_bytes) => {
      const { process_id } = await backend.sh('read x; seq 1 200000', { pipe_stdin: true, retain_bytes });
      const followed = followAll(backend.process, process_id);
      await backend.process.write(process_id, Buffer.from('\n'));
      const told = await followed;
      expect(told.gaps).toEqual([]);
      expect(told.bytes()).toHaveLength(1_288_895);
    },
  );
});
