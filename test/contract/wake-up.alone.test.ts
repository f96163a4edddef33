import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BACKENDS, useBackend } from '../support/backends.js';
import { bytesOf } from '../support/told.js';

const CLOCK = fileURLToPath(new URL('../fixtures/clock.mjs', import.meta.url));

/** Longest time that a poll may take to answer with a line that is there, in milliseconds; one that is not woken takes 10 s, or the time to the next line. */
const LATE_MS = 1000;

describe.each(BACKENDS)('%s', (name) => {
  const backend = useBackend(name);
  const lines = name === 'local' ? 1000 : 200;

  /** Polls from event to event; returns how long each line kept its poll waiting, in milliseconds. */
  async function poll(process_id: string, told = (_lines: number) => {}): Promise<number[]> {
    const late: number[] = [];
    let seq = 0;
    for (let after_seq = 0; ; ) {
      const begun = Date.now();
      const { chunks, next_seq, closed } = await backend.process.read(process_id, { after_seq, wait_ms: 10_000 });
      const now = Date.now();
      for (const chunk of chunks) expect(chunk.seq).toBe(++seq);
      const stamps = bytesOf(chunks)
        .toString()
        .split('\n')
        .filter(Boolean)
        .map((line) => Number(line.slice(0, 13)));
      late.push(...stamps.map((stamp) => now - Math.max(begun, stamp)));
      told(late.length);
      after_seq = next_seq - 1;
      if (closed) return late;
      expect(chunks.length + Number(next_seq > seq + 1), 'a poll with data never waits for its end').toBeGreaterThan(0);
    }
  }

  it(`B20 no line waits for its poll to end: ${lines} lines, 1 to 20 ms apart`, async () => {
    const { process_id } = await backend.start([process.execPath, CLOCK, String(lines), '1', '20']);
    const late = await poll(process_id);
    expect(late).toHaveLength(lines);
    expect(Math.max(...late)).toBeLessThan(LATE_MS);
  });

  it('B20 no line waits for its poll to end: 50 processes, a poller each', async () => {
    const go = join(backend.dir, 'go');
    // The lines begin when all pollers have their connection: what is measured is the wake-up, not the rush before it.
    const script = `echo 0; until [ -e '${go}' ]; do read -t 0.05 x; done
      for i in {1..3}; do echo \${EPOCHREALTIME/./}; read -t 1.$((RANDOM % 300 + 100)) x; done; true`;
    let waiting = 50;
    const late = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const { process_id } = await backend.start(['bash', '-c', script], { pipe_stdin: true });
        return poll(process_id, (lines) => {
          if (lines === 1 && --waiting === 0) writeFileSync(go, '');
        });
      }),
    );
    expect(late.map(({ length }) => length)).toEqual(Array(50).fill(4));
    // The first line says that the program runs, not when.
    expect(Math.max(...late.flatMap(([, ...timed]) => timed))).toBeLessThan(LATE_MS);
  });

  it('B20 a poll without data ends when it said, within 200 ms', async () => {
    const { process_id } = await backend.start(['cat'], { pipe_stdin: true });
    for (const wait_ms of [0, 300, 1000]) {
      const begun = performance.now();
      expect(await backend.process.read(process_id, { wait_ms })).toMatchObject({ chunks: [], next_seq: 1, closed: false });
      const waited = performance.now() - begun;
      expect(waited).toBeGreaterThan(wait_ms - 5);
      expect(waited).toBeLessThan(wait_ms + 200);
    }
  });
});
