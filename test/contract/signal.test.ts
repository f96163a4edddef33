import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { SignalRequest } from '../../src/protocol/index.js';
import { BACKENDS_AND_LAUNCHERS, useBackend } from '../support/backends.js';
import { until } from '../support/proc.js';
import { codeOf, errorOf, readAll, readUntil } from '../support/told.js';

const HEARS = `'${process.execPath}' '${fileURLToPath(new URL('../fixtures/hears.mjs', import.meta.url))}'`;

describe.each(BACKENDS_AND_LAUNCHERS)('%s', (name) => {
  const backend = useBackend(name);
  const send = (process_id: string, signal: string, scope?: SignalRequest['scope']) =>
    backend.process.signal(process_id, { signal, ...(scope ? { scope } : {}) });

  it.each(['SIGINT', 'INT', 'int', 'sigint', 'Int'])('a signal is named %s', async (signal) => {
    const { process_id } = await backend.sh('echo ready; exec sleep 60');
    await readUntil(backend.process, process_id, 'ready');
    await send(process_id, signal);
    await readAll(backend.process, process_id);
    expect(await backend.process.get(process_id)).toMatchObject({ exit_code: 130, signal: 'SIGINT', reason: 'signaled' });
  });

  it.each(['', 'NOPE', 'SIG', '9', 'TERM ', 'constructor'])('there is no signal %j', async (signal) => {
    const { process_id } = await backend.start(['sleep', '60']);
    const error = await errorOf(send(process_id, signal));
    expect(error.status).toBe(400);
    if (signal !== '') expect(error).toMatchObject({ code: 'invalid_argument', fields: { field: 'signal' } });
    if (signal !== '') expect(error.fields.allowed).toContain('SIGTERM');
    expect(await backend.process.get(process_id)).toMatchObject({ state: 'running' });
  });

  describe.each([false, true])('tty %s', (tty) => {
    it('a signal reaches the group unless it is meant for the leader', async () => {
      const { process_id } = await backend.sh(`${HEARS} child & exec ${HEARS} leader`, { tty });
      let place = await readAllOf(process_id, ['child ready', 'leader ready'], 0);
      await send(process_id, 'USR2', 'leader');
      place = await readAllOf(process_id, ['leader SIGUSR2'], place);
      for (const scope of [undefined, 'group'] as const) {
        await send(process_id, 'USR2', scope);
        place = await readAllOf(process_id, ['child SIGUSR2', 'leader SIGUSR2'], place);
      }
      await send(process_id, 'TERM');
      await readAllOf(process_id, ['child SIGTERM', 'leader SIGTERM'], place);
      expect((await readAll(backend.process, process_id)).exit).toMatchObject({ exit_code: 0, signal: null });
    });

    it('stop and continue', async () => {
      const { process_id } = await backend.sh('i=0; while :; do i=$((i+1)); echo $i; sleep 0.01; done', { tty });
      await readUntil(backend.process, process_id, '3');
      await send(process_id, 'STOP');
      const { next_seq } = await silence(process_id);
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'running' });
      await send(process_id, 'CONT');
      const answer = await backend.process.read(process_id, { after_seq: next_seq - 1, wait_ms: 20_000 });
      expect(answer.chunks.length).toBeGreaterThan(0);
    });

    it('the group is signalled also when its leader has ended, and not when it is gone', async () => {
      const { process_id } = await backend.sh(`${HEARS} child & read x`, { tty, pipe_stdin: true });
      const { after_seq } = await readUntil(backend.process, process_id, 'ready');
      await backend.process.write(process_id, Buffer.from('\n'));
      expect(await backend.process.get(process_id, { wait_ms: 20_000 })).toMatchObject({ exit_code: 0 });
      expect(await codeOf(send(process_id, 'USR2', 'leader'))).toBe('process_exited');
      await send(process_id, 'TERM');
      const told = await readAll(backend.process, process_id, { after_seq });
      expect(told.text()).toContain('child SIGTERM');
      // The system keeps the number of the last one for a moment after its end.
      await until(
        'the group is gone',
        () =>
          send(process_id, 'USR2').then(
            () => false,
            () => true,
          ),
        20_000,
      );
      for (const scope of ['leader', 'group', undefined] as const) {
        expect(await errorOf(send(process_id, 'USR2', scope))).toMatchObject({
          code: 'process_exited',
          status: 409,
          message: expect.stringContaining('purge=true frees its id'),
        });
      }
    });
  });

  it('the foreground group of a terminal is the job that its shell runs', async () => {
    const job = `trap 'echo job INT; exit' INT; echo ready; while :; do sleep 0.02; done`;
    const { process_id } = await backend.sh(`set -m; trap 'echo shell INT' INT; sh -c "${job}"; echo after; read x`, { tty: true });
    const { after_seq } = await readUntil(backend.process, process_id, 'ready');
    await send(process_id, 'INT', 'foreground');
    const { text } = await readUntil(backend.process, process_id, 'after', { after_seq });
    expect(text).toContain('job INT');
    expect(text).not.toContain('shell INT');
    expect(await backend.process.get(process_id)).toMatchObject({ state: 'running' });
  });

  it('without a terminal there is no foreground', async () => {
    const { process_id } = await backend.start(['sleep', '60']);
    expect(await errorOf(send(process_id, 'INT', 'foreground'))).toMatchObject({ code: 'not_a_tty', status: 409 });
  });

  /** Reads exactly these lines, in any order. */
  async function readAllOf(process_id: string, lines: string[], after: number): Promise<number> {
    let text = '';
    let after_seq = after;
    while (text.split('\n').length <= lines.length) {
      const next = await readUntil(backend.process, process_id, '\n', { after_seq });
      text += next.text;
      after_seq = next.after_seq;
    }
    expect(text.trim().split(/\r?\n/).sort()).toEqual(lines);
    return after_seq;
  }

  /** Reads until nothing comes for a while. */
  async function silence(process_id: string) {
    for (let after_seq = 0; ; ) {
      const answer = await backend.process.read(process_id, { after_seq, wait_ms: 200 });
      if (answer.chunks.length === 0) return answer;
      after_seq = answer.next_seq - 1;
    }
  }
});
