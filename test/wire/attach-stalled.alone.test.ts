import { describe, expect, test } from 'vitest';
import { STDIN_QUEUE_BYTES } from '../../src/protocol/index.js';
import { cpuMs, until } from '../support/proc.js';
import { AttachClient } from './attach-client.js';
import { useGateway } from './use-gateway.js';

const MIB = 1024 * 1024;

/** What a viewer sends to a process that reads nothing: far more than may wait for it, in the kernel too (32 MiB for a reader, 4 MiB for a writer). */
const SENT_BYTES = 48 * MIB;

/** What may wait for a process beyond its queue, in bytes: what the viewer's own place and the kernel's terminal or pipe hold. */
const BEYOND_BYTES = 512 * 1024;

const upstream = useGateway({ token: null, flags: ['--no-auth'] });
const proxy = useGateway(() => ({ flags: ['--upstream', upstream.server.url] }));
const here = useGateway();

describe.each([
  ['on this machine', here, [here]],
  ['behind a gateway', proxy, [proxy, upstream]],
] as const)('%s', (_where, gateway, all) => {
  test('B16 processes that do not read cost no processor time, hold their viewers alone, and end', async () => {
    const stalled = [await stall(true, true), await stall(true, false), await stall(false, true)];
    const { delays, share } = await otherCallsFor5s();
    for (const one of share) expect(one).toBeLessThan(0.2);
    expect(delays.length).toBeGreaterThan(20);
    expect(delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.99)]).toBeLessThan(100);
    for (const { process_id, viewer } of stalled) {
      expect(await accepted(process_id), 'what waits is bounded').toBeLessThanOrEqual(STDIN_QUEUE_BYTES + BEYOND_BYTES);
      expect(viewer.socket.bufferedAmount, 'the viewer is not read any more').toBeGreaterThan(0);
      const reply = await gateway.fetch(`/processes/${process_id}?wait_ms=20000`, { method: 'DELETE' });
      expect(await reply.json()).toEqual({ running: true });
      expect((await viewer.untilEnd()).code).toBe(1000);
      expect(await (await gateway.fetch(`/processes/${process_id}`)).json()).toMatchObject({ state: 'closed', stdin: { open: false } });
    }
  });

  /** A process that does not read, and a viewer that has sent it more than it is given. */
  async function stall(tty: boolean, numbered: boolean) {
    const script = `${tty ? 'stty raw -echo; ' : ''}echo ready; exec sleep 60`;
    const { process_id } = await gateway.start(['sh', '-c', script], { tty, pipe_stdin: true });
    const viewer = await AttachClient.open(gateway, `/processes/${process_id}/attach`, numbered);
    await viewer.until(() => viewer.text(numbered) === 'ready\n');
    for (let at = 0; at < SENT_BYTES; at += MIB) {
      if (numbered) viewer.input(at, Buffer.alloc(MIB));
      else viewer.socket.send(Buffer.alloc(MIB));
    }
    if (numbered) await viewer.until(() => (viewer.all('accepted').at(-1)?.accepted_bytes ?? 0) >= STDIN_QUEUE_BYTES);
    else await until('its queue is full', async () => (await accepted(process_id)) >= STDIN_QUEUE_BYTES);
    return { process_id, viewer };
  }

  async function accepted(process_id: string): Promise<number> {
    const { stdin } = await (await gateway.fetch(`/processes/${process_id}`)).json();
    return stdin.accepted_bytes;
  }

  /** Looks on at a process that speaks ten times a second, for 5 s: how long other calls took, and what share of a core each gateway used. */
  async function otherCallsFor5s() {
    const before = all.map(({ server }) => cpuMs(server.pid));
    const begun = performance.now();
    const talker = await gateway.start(['sh', '-c', 'while :; do echo tick; sleep 0.1; done'], { timeout_ms: 5_000 });
    const viewer = await AttachClient.open(gateway, `/processes/${talker.process_id}/attach`);
    const delays: number[] = [];
    for (let ticks = 1; viewer.all('exited').length === 0; ticks++) {
      await viewer.until(() => viewer.seqs().length >= ticks);
      const asked = performance.now();
      await (await gateway.fetch(`/processes/${talker.process_id}`)).json();
      delays.push(performance.now() - asked);
    }
    const elapsed = performance.now() - begun;
    expect(elapsed).toBeGreaterThan(4_900);
    return { delays, share: all.map(({ server }, i) => (cpuMs(server.pid) - (before[i] as number)) / elapsed) };
  }
});
