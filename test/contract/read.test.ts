import { describe, expect, it } from 'vitest';
import type { ReadQuery } from '../../src/protocol/index.js';
import { BACKENDS_AND_SOCKETS, useBackend } from '../support/backends.js';
import { bytesOf, codeOf, errorOf, followAll, readAll, readUntil } from '../support/told.js';

describe.each([...BACKENDS_AND_SOCKETS, 'hosted'] as const)('%s', (name) => {
  const backend = useBackend(name);
  const read = (process_id: string, query?: ReadQuery) => backend.process.read(process_id, query);

  it('a read begins after after_seq, and next_seq - 1 is where to continue', async () => {
    const { process_id } = await backend.sh('for i in 1 2 3; do echo $i; read x; done', { pipe_stdin: true });
    let after_seq = 0;
    for (const line of ['1', '2', '3']) {
      const answer = await read(process_id, { after_seq, wait_ms: 20_000 });
      expect(bytesOf(answer.chunks).toString()).toBe(`${line}\n`);
      expect(answer).toMatchObject({ next_seq: after_seq + 2, exited: false, exit_code: null, signal: null, closed: false, gap: null });
      after_seq = answer.next_seq - 1;
      await backend.process.write(process_id, Buffer.from('\n'));
    }
    await readAll(backend.process, process_id, { after_seq });
    // exited is 4, closed is 5: both are passed once they were told.
    expect(await read(process_id, { after_seq: 1 })).toMatchObject({
      chunks: [{ seq: 2 }, { seq: 3 }],
      next_seq: 6,
      exited: true,
      exit_code: 0,
      closed: true,
    });
    expect(await read(process_id, { after_seq: 4 })).toMatchObject({ chunks: [], next_seq: 6, closed: true });
    expect(await read(process_id, { after_seq: 5, wait_ms: 20_000 })).toMatchObject({
      chunks: [],
      next_seq: 6,
      exited: true,
      closed: true,
    });
  });

  it('a read without news answers after wait_ms, at once without it', async () => {
    const { process_id } = await backend.start(['cat'], { pipe_stdin: true });
    const begun = performance.now();
    expect(await read(process_id)).toMatchObject({ chunks: [], next_seq: 1, exited: false, closed: false });
    expect(await read(process_id, { wait_ms: 200 })).toMatchObject({ chunks: [], next_seq: 1, exited: false, closed: false });
    expect(performance.now() - begun).toBeGreaterThan(190);
  });

  it('a read waits for news of the stream asked for', async () => {
    const { process_id } = await backend.sh('echo err >&2; read x; echo out; read x', { pipe_stdin: true });
    await readUntil(backend.process, process_id, 'err');
    const waiting = read(process_id, { stream: 'stdout', wait_ms: 20_000 });
    expect(await read(process_id, { stream: 'stdout' })).toMatchObject({ chunks: [], next_seq: 2 });
    await backend.process.write(process_id, Buffer.from('\n'));
    const { chunks, next_seq } = await waiting;
    expect(chunks).toMatchObject([{ seq: 2, stream: 'stdout' }]);
    expect(next_seq).toBe(3);
  });

  it('a read of one stream passes over the other, and both together are the whole', async () => {
    const { process_id } = await backend.sh('for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done');
    const whole = await readAll(backend.process, process_id);
    for (const stream of ['stdout', 'stderr'] as const) {
      const alone = await readAll(backend.process, process_id, { stream });
      const followed = await followAll(backend.process, process_id, { stream });
      expect(alone.chunks).toEqual(whole.chunks.filter((chunk) => chunk.stream === stream));
      expect(followed.chunks).toEqual(alone.chunks);
      expect(followed.exit).toMatchObject({ exit_code: 0 });
      expect(alone.text()).toBe([1, 2, 3, 4, 5].map((i) => `${stream.slice(3)}${i}\n`).join(''));
    }
    expect((await readAll(backend.process, process_id, { stream: 'pty' })).chunks).toEqual([]);
  });

  it('B64 any max_bytes makes progress, and the parts are the whole', async () => {
    const line = 'ein Wörtchen, 漢字, 😀';
    const { process_id } = await backend.sh(`yes '${line}' | head -c 102400`);
    const whole = await readAll(backend.process, process_id);
    expect(whole.bytes().toString('latin1')).toBe(Buffer.from(`${line}\n`.repeat(5000)).subarray(0, 102_400).toString('latin1'));
    for (const max_bytes of [0, 1, 3, 70_000]) {
      const parts = await readAll(backend.process, process_id, { max_bytes });
      expect(parts.chunks).toEqual(whole.chunks);
    }
    const first = await read(process_id, { max_bytes: 1 });
    expect(first.chunks).toEqual(whole.chunks.slice(0, 1));
    expect(first.next_seq).toBe(2);
  });

  it('B64 max_bytes holds when more than the first chunk would fit', async () => {
    const { process_id } = await backend.sh('for i in 1 2 3 4 5 6; do echo 12345; read x; done', { pipe_stdin: true });
    for (let after_seq = 0; after_seq < 6; after_seq++) {
      await read(process_id, { after_seq, wait_ms: 20_000 });
      await backend.process.write(process_id, Buffer.from('\n'));
    }
    await readAll(backend.process, process_id);
    const seqs = async (query: ReadQuery) => (await read(process_id, query)).chunks.map(({ seq }) => seq);
    expect(await seqs({ max_bytes: 12 })).toEqual([1, 2]);
    expect(await seqs({ max_bytes: 11 })).toEqual([1]);
    expect(await seqs({ max_bytes: 18, after_seq: 2 })).toEqual([3, 4, 5]);
    const clamped = await read(process_id, { max_bytes: Number.MAX_SAFE_INTEGER, wait_ms: 1_000_000_000 });
    expect(clamped).toMatchObject({ next_seq: 9, closed: true });
  });

  it('B64 a cursor in the future, or that is none, is refused', async () => {
    const { process_id } = await backend.sh('echo hi');
    await readAll(backend.process, process_id);
    expect(await read(process_id, { after_seq: 3 })).toMatchObject({ next_seq: 4, closed: true });
    for (const after_seq of [4, 1000, Number.MAX_SAFE_INTEGER]) {
      for (const call of [() => read(process_id, { after_seq }), () => backend.process.follow(process_id, { after_seq })]) {
        expect(await errorOf(call())).toMatchObject({ code: 'cursor_ahead', status: 409, fields: { next_seq: 4 } });
      }
    }
    for (const after_seq of [-1, 1.5, 2 ** 53, Number.NaN]) {
      expect(await codeOf(read(process_id, { after_seq }))).toBe('invalid_cursor');
      expect(await codeOf(backend.process.follow(process_id, { after_seq }))).toBe('invalid_cursor');
    }
  });

  it.each(['unknown', '', '.', '..', 'a/b', 'ü', '%00', 'x'.repeat(400)])('there is no process %j, in whatever call', async (id) => {
    const { process: processes } = backend;
    const calls = [
      () => processes.get(id),
      () => processes.read(id),
      () => processes.follow(id),
      () => processes.write(id, Buffer.from('x')),
      () => processes.signal(id, { signal: 'TERM' }),
      () => processes.resize(id, { cols: 80, rows: 24 }),
      () => processes.terminate(id),
    ];
    for (const call of calls) expect(await codeOf(call())).toBe('process_not_found');
  });

  it('a call that is given up rejects with the reason of its signal, and the process goes on', async () => {
    const { process_id } = await backend.start(['cat'], { pipe_stdin: true });
    const { process: processes } = backend;
    const wait_ms = 20_000;
    for (const call of [
      (signal: AbortSignal) => processes.read(process_id, { wait_ms }, { signal }),
      (signal: AbortSignal) => processes.get(process_id, { wait_ms }, { signal }),
    ]) {
      const given_up = new AbortController();
      const waiting = call(given_up.signal);
      given_up.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
      await expect(call(AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    }
    expect(await processes.get(process_id)).toMatchObject({ state: 'running' });
  });
});
