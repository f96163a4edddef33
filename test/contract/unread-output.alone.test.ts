import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DEFAULT_RETAIN_BYTES } from '../../src/protocol/index.js';
import { BACKENDS_AND_LAUNCHERS, useBackend } from '../support/backends.js';
import { rssBytes } from '../support/proc.js';
import { bytesOf } from '../support/told.js';

const MIB = 1024 * 1024;
const LINE_BYTES = 200 * MIB;

/** What memory may grow by: what is kept of each process, and 64 MiB. */
const GROWTH_BYTES = 3 * DEFAULT_RETAIN_BYTES + 64 * MIB;

describe.each(BACKENDS_AND_LAUNCHERS)('%s', (name) => {
  const backend = useBackend(name);

  it('B07 output that nobody reads costs no memory and no time: on pipes, on a terminal, and one line of 200 MiB', async () => {
    const quiet = await backend.start(['cat'], { pipe_stdin: true });
    // The engine collects what lies outside its heap when that is 64 MiB: memory is measured from there on.
    const warm = await backend.sh(`head -c ${LINE_BYTES} /dev/zero`);
    await backend.process.get(warm.process_id, { wait_ms: 60_000 });
    const before = backend.pids.map(rssBytes);
    const piped = await backend.start(['yes'], { timeout_ms: 3_000 });
    const tty = await backend.start(['yes'], { tty: true, timeout_ms: 3_000 });
    const line = await backend.sh(`head -c ${LINE_BYTES} /dev/zero | tr '\\0' x`);
    const { delays, most } = await watchUntilEnd(
      quiet.process_id,
      [piped, tty, line].map(({ process_id }) => process_id),
    );
    most.forEach((rss, i) => {
      expect(rss - (before[i] as number)).toBeLessThan(GROWTH_BYTES);
    });
    const p99 = delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.99)];
    expect(p99).toBeLessThan(200);

    // What was printed last may have been cut by the end.
    await expectTail(piped.process_id, /^(y\n)+y?$/);
    await expectTail(tty.process_id, /^(y\r\n)+(y\r?)?$/);
    await expectTail(line.process_id, /^x+$/);
    expect(await backend.process.get(line.process_id)).toMatchObject({ exit_code: 0, total_bytes: LINE_BYTES });
    expect(await backend.process.get(quiet.process_id)).toMatchObject({ state: 'running' });
  });

  /** Asks for another process until these have ended: how long each answer took, and the most memory each gateway had. */
  async function watchUntilEnd(other: string, ids: string[]) {
    let over = false;
    const ends = Promise.all(ids.map((id) => backend.process.get(id, { wait_ms: 60_000 }))).then(() => {
      over = true;
    });
    const delays: number[] = [];
    let most = backend.pids.map(() => 0);
    while (!over) {
      const asked = performance.now();
      await backend.process.get(other);
      delays.push(performance.now() - asked);
      most = backend.pids.map((pid, i) => Math.max(most[i] as number, rssBytes(pid)));
      await setImmediate();
    }
    await ends;
    return { delays, most };
  }

  /** The newest output is there, and all that is missing is told: nothing is silently cut. */
  async function expectTail(process_id: string, pattern: RegExp): Promise<void> {
    const { closed_at } = await closed(process_id);
    expect(closed_at).not.toBeNull();
    const { total_bytes, retained_bytes, first_seq } = await backend.process.get(process_id);
    expect(retained_bytes).toBeLessThanOrEqual(DEFAULT_RETAIN_BYTES);
    expect(retained_bytes).toBeGreaterThan(DEFAULT_RETAIN_BYTES / 2);
    const { chunks, gap } = await backend.process.read(process_id, { max_bytes: 16 * MIB });
    expect(gap).toEqual({ from_seq: 1, to_seq: first_seq - 1, bytes: total_bytes - retained_bytes, reason: 'evicted' });
    expect(chunks[0]?.seq).toBe(first_seq);
    // The oldest line kept may be cut by the edge of its chunk.
    expect(
      bytesOf(chunks)
        .toString('latin1')
        .replace(/^[^y]*\n/, ''),
    ).toMatch(pattern);
    expect(bytesOf(chunks)).toHaveLength(retained_bytes);
  }

  async function closed(process_id: string) {
    for (;;) {
      const info = await backend.process.get(process_id);
      if (info.state === 'closed') return info;
      await backend.process.read(process_id, { after_seq: info.next_seq - 1, wait_ms: 20_000 });
    }
  }
});
