import { describe, expect, it } from 'vitest';
import { STDIN_QUEUE_BYTES } from '../../src/protocol/index.js';
import { BACKENDS_AND_LAUNCHERS, useBackend } from '../support/backends.js';
import { cpuMs } from '../support/proc.js';
import { codeOf, errorOf, readUntil } from '../support/told.js';

const MIB = 1024 * 1024;

describe.each(BACKENDS_AND_LAUNCHERS)('%s', (name) => {
  const backend = useBackend(name);

  it('B16 children that do not read their input cost no processor time', async () => {
    const stalled = [await stall(true), await stall(false)];
    const { delays, share } = await otherCallsFor5s();
    for (const one of share) expect(one).toBeLessThan(0.2);
    expect(delays.length).toBeGreaterThan(20);
    expect(delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.99)]).toBeLessThan(100);
    for (const { process_id, waiting } of stalled) {
      expect(await backend.process.terminate(process_id, { wait_ms: 20_000 })).toEqual({ running: true });
      expect(['process_exited', 'stdin_closed']).toContain(await waiting);
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', stdin: { open: false } });
    }
  });

  /** A child whose queue is full, and a write that waits for room. */
  async function stall(tty: boolean) {
    const raw = tty ? 'stty raw -echo; ' : '';
    const { process_id } = await backend.sh(`${raw}echo ready; exec sleep 60`, { tty, pipe_stdin: true });
    await readUntil(backend.process, process_id, 'ready');
    await backend.process.write(process_id, new Uint8Array(MIB));
    const error = await errorOf(backend.process.write(process_id, new Uint8Array(MIB), { wait_ms: 300 }));
    expect(error).toMatchObject({ code: 'stdin_backpressure', status: 429 });
    expect(error.fields.accepted_bytes).toBeGreaterThanOrEqual(MIB);
    expect(error.fields.accepted_bytes).toBeLessThanOrEqual(STDIN_QUEUE_BYTES + 512 * 1024);
    return { process_id, waiting: codeOf(backend.process.write(process_id, new Uint8Array(MIB), { wait_ms: 60_000 })) };
  }

  /** Reads a process that speaks ten times a second, for 5 s: how long calls took, and what share of a core each gateway used. */
  async function otherCallsFor5s() {
    const before = backend.pids.map(cpuMs);
    const begun = performance.now();
    const talker = await backend.sh('while :; do echo tick; sleep 0.1; done', { timeout_ms: 5_000 });
    const delays: number[] = [];
    for (let after_seq = 0; ; ) {
      const { next_seq, exited } = await backend.process.read(talker.process_id, { after_seq, wait_ms: 20_000 });
      after_seq = next_seq - 1;
      if (exited) break;
      const asked = performance.now();
      await backend.process.get(talker.process_id);
      delays.push(performance.now() - asked);
    }
    const elapsed = performance.now() - begun;
    expect(elapsed).toBeGreaterThan(4_900);
    return { delays, share: backend.pids.map((pid, i) => (cpuMs(pid) - (before[i] as number)) / elapsed) };
  }
});
