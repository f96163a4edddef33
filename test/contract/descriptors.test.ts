import { describe, expect, it } from 'vitest';
import { BACKENDS, BACKENDS_AND_LAUNCHERS, useBackend } from '../support/backends.js';
import { descriptors, until } from '../support/proc.js';
import { codeOf, readAll, readUntil } from '../support/told.js';

describe.each(BACKENDS_AND_LAUNCHERS)('%s', (name) => {
  const backend = useBackend(name);
  const rounds = name === 'local' ? 2 : 1;

  it(`B29 300 terminals, however they end, leave no descriptor: ${rounds} rounds`, { timeout: 120_000 }, async () => {
    const before = descriptors(backend.host_pid).length;
    for (let round = 0; round < rounds; round++) {
      // Those that a stranger holds are let go after 5 s: they wait together, beside the others.
      const held = Array.from({ length: 50 }, heldByStranger);
      for (let i = 0; i < 15; i++) await Promise.all(Array.from({ length: 10 }, normal));
      for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 10 }, failing));
      for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 10 }, terminated));
      await Promise.all(held);
      await until('the descriptors are back', () => descriptors(backend.host_pid).length <= before, 10_000);
    }
    await normal();
  });

  async function normal(): Promise<void> {
    const { process_id } = await backend.start(['echo', 'hi'], { tty: true });
    expect((await readAll(backend.process, process_id)).text()).toBe('hi\r\n');
  }

  async function failing(): Promise<void> {
    expect(await codeOf(backend.process.start({ argv: ['no-such-cmd-x'], tty: true }))).toBe('command_not_found');
  }

  async function terminated(): Promise<void> {
    const { process_id } = await backend.sh('echo ready; exec sleep 60', { tty: true });
    await readUntil(backend.process, process_id, 'ready');
    await backend.process.terminate(process_id, { wait_ms: 20_000 });
    expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed' });
  }

  async function heldByStranger(): Promise<void> {
    const { process_id } = await backend.sh('setsid sh -c "echo held; exec sleep 6" & read x', { tty: true });
    await readUntil(backend.process, process_id, 'held');
    await backend.process.write(process_id, Buffer.from('\n'));
    expect((await readAll(backend.process, process_id)).exit).toMatchObject({ exit_code: 0 });
  }
});

describe.each(BACKENDS)('%s', (name) => {
  const backend = useBackend(name);

  it('a program has the descriptors it is given, though terminals and pipes of others are open', async () => {
    const others = [false, true, false, true].map((tty) => backend.sh('echo ready; exec sleep 60', { tty, pipe_stdin: true }));
    for (const { process_id } of await Promise.all(others)) await readUntil(backend.process, process_id, 'ready');
    for (const tty of [false, true]) {
      const { process_id } = await backend.start(['ls', '/proc/self/fd'], { pipe_stdin: true, tty });
      // ls itself opens the directory as the fourth.
      expect((await readAll(backend.process, process_id)).text().trim().split(/\s+/)).toEqual(['0', '1', '2', '3']);
    }
  });
});
