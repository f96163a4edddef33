import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BACKENDS_AND_SOCKETS, useBackend } from '../support/backends.js';
import { followAll, readAll } from '../support/told.js';

const PARROT = fileURLToPath(new URL('../fixtures/parrot.mjs', import.meta.url));

describe.each(BACKENDS_AND_SOCKETS)('%s', (name) => {
  const backend = useBackend(name);

  /** Starts a process that prints chunks of these sizes; resolves with their sizes by seq when all are out. */
  async function print(process_id: string, sizes: number[], retain_bytes: number): Promise<number[]> {
    await backend.start([process.execPath, PARROT], { process_id, pipe_stdin: true, retain_bytes });
    let after_seq = 0;
    const printed: number[] = [];
    for (const size of [null, ...sizes]) {
      if (size !== null) await backend.process.write(process_id, Buffer.from(`${size} x\n`));
      const { chunks, next_seq } = await backend.process.read(process_id, { after_seq, wait_ms: 20_000 });
      expect(chunks).toHaveLength(1);
      printed.push(chunks[0]?.chunk.length as number);
      after_seq = next_seq - 1;
    }
    return printed;
  }

  const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);

  it('what was evicted is told exactly: from which event to which, and how many bytes', async () => {
    const sizes = await print('exact', [1000, 1, 700, 999, 3, 1200, 800, 5], 2_100);
    // 6 for "ready", then as asked for; the newest 2,008 bytes are 3 chunks.
    expect(sizes).toEqual([6, 1000, 1, 700, 999, 3, 1200, 800, 5]);
    const info = await backend.process.get('exact');
    expect(info).toMatchObject({ first_seq: 6, next_seq: 10, retained_bytes: 2_008, total_bytes: sum(sizes) });
    for (let after_seq = 0; after_seq < 5; after_seq++) {
      const gap = { from_seq: after_seq + 1, to_seq: 5, bytes: sum(sizes.slice(after_seq, 5)), reason: 'evicted' };
      const answer = await backend.process.read('exact', { after_seq });
      expect(answer.gap).toEqual(gap);
      expect(answer.chunks.map(({ seq }) => seq)).toEqual([6, 7, 8, 9]);
      const followed = await backend.process.follow('exact', { after_seq });
      expect(followed.gap).toEqual(gap);
      for await (const [first] of followed) {
        expect(first).toEqual({ event: 'gap', ...gap });
        break;
      }
    }
    for (const after_seq of [5, 6, 9]) {
      expect((await backend.process.read('exact', { after_seq })).gap).toBeNull();
      expect((await backend.process.follow('exact', { after_seq })).gap).toBeNull();
    }
  });

  it('the newest chunk is kept though it is larger than what may be kept', async () => {
    await print('large', [4000, 10], 4);
    expect(await backend.process.get('large')).toMatchObject({ first_seq: 3, retained_bytes: 10 });
    await backend.process.write('large', Buffer.from('4000 y\n'));
    const { chunks, gap } = await backend.process.read('large', { after_seq: 3, wait_ms: 20_000 });
    expect(gap?.bytes ?? 0).toBe(4000 - sum(chunks.map(({ chunk }) => chunk.length)));
    expect(await backend.process.get('large')).toMatchObject({ total_bytes: 8_016 });
  });

  it('exited and closed are never evicted, and a gap reaches up to them', async () => {
    const { process_id } = await backend.sh('seq 1 20000; exit 3', { retain_bytes: 1000 });
    await backend.process.get(process_id, { wait_ms: 20_000 });
    for (const told of [await readAll(backend.process, process_id), await followAll(backend.process, process_id)]) {
      expect(told.exit).toMatchObject({ exit_code: 3 });
      expect(told.gaps.length).toBeGreaterThan(0);
      expect(sum(told.gaps.map(({ bytes }) => bytes as number)) + told.bytes().length).toBe(108_894);
      expect(told.text().endsWith('\n20000\n')).toBe(true);
    }
  });

  it('a gap is told once: who goes on after it meets no other', async () => {
    await print('once', [600, 600, 600], 1_000);
    const { gap, next_seq } = await backend.process.read('once');
    expect(gap).toMatchObject({ from_seq: 1, to_seq: 3 });
    expect((await backend.process.read('once', { after_seq: next_seq - 1 })).gap).toBeNull();
    expect((await backend.process.read('once', { after_seq: gap?.to_seq })).gap).toBeNull();
  });

  it('a reader that waits is told of the gap too when much came at once', async () => {
    const { process_id } = await backend.sh('read x; seq 1 200000; read x', { pipe_stdin: true, retain_bytes: 5_000 });
    const waiting = readAll(backend.process, process_id);
    await backend.process.write(process_id, Buffer.from('\n'));
    await backend.process.write(process_id, Buffer.from('\n'));
    const { gaps, chunks } = await waiting;
    expect(sum(gaps.map(({ bytes }) => bytes as number)) + sum(chunks.map(({ chunk }) => chunk.length))).toBe(1_288_895);
  });
});
