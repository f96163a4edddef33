import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_BACKENDS, useBackend } from '../support/backends.js';
import { sessionMembers, until } from '../support/proc.js';
import { followAll, readAll, readUntil } from '../support/told.js';

describe.each(ALL_BACKENDS)('%s', (name) => {
  const backend = useBackend(name);

  describe.each([false, true])('tty %s', (tty) => {
    it.each([
      ['kill -9 $$', 137, 'SIGKILL'],
      ['kill -SEGV $$', 139, 'SIGSEGV'],
      ['kill -TERM $$', 143, 'SIGTERM'],
    ])('B12 a death by signal is told as one: %s', async (script, exit_code, signal) => {
      const { process_id } = await backend.sh(script, { tty });
      expect((await readAll(backend.process, process_id)).exit).toMatchObject({ exit_code, signal });
      expect((await followAll(backend.process, process_id)).exit).toMatchObject({ exit_code, signal });
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', exit_code, signal, reason: 'signaled' });
    });

    it.each([0, 1, 137, 255])('B12 exit %i is no signal', async (exit_code) => {
      const { process_id } = await backend.sh(`exit ${exit_code}`, { tty });
      expect((await readAll(backend.process, process_id)).exit).toMatchObject({ exit_code, signal: null });
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', exit_code, signal: null, reason: 'exited' });
    });

    it('B04 a background child that keeps the output does not hide the exit', async () => {
      const { process_id, pid } = await backend.sh('sleep 20 & echo hi; exit 7', { tty });
      const begun = performance.now();
      const exited = await backend.process.get(process_id, { wait_ms: 10_000 });
      expect(exited).toMatchObject({ exit_code: 7, signal: null, reason: 'exited' });
      const answer = await backend.process.read(process_id, { wait_ms: 10_000 });
      expect(performance.now() - begun).toBeLessThan(1_000);
      expect(answer).toMatchObject({ exited: true, exit_code: 7 });
      expect(Buffer.concat(answer.chunks.map(({ chunk }) => chunk)).toString()).toMatch(/^hi\r?\n$/);
      await backend.process.terminate(process_id, { wait_ms: 10_000 });
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', exit_code: 7, reason: 'exited' });
      await until('the sleeper is gone', () => sessionMembers(pid).length === 0);
    });
  });

  it('B04 a poll that waits for the end of the output waits no longer than it said', async () => {
    const { process_id } = await backend.sh('sleep 20 & echo hi; exit 7');
    const { next_seq } = await readToExit(process_id);
    const begun = performance.now();
    const answer = await backend.process.read(process_id, { after_seq: next_seq - 1, wait_ms: 300 });
    expect(performance.now() - begun).toBeLessThan(1_300);
    expect(answer).toMatchObject({ chunks: [], exited: true, exit_code: 7, closed: false });
  });

  it('output may come between exited and closed, and is told there', async () => {
    const fifo = join(backend.dir, 'late');
    execFileSync('mkfifo', [fifo]);
    const { process_id } = await backend.sh(`echo early; cat '${fifo}' & exit 3`);
    const followed = followAll(backend.process, process_id);
    await readToExit(process_id);
    expect(await backend.process.get(process_id)).toMatchObject({ state: 'exited', exit_code: 3, closed_at: null });
    appendFileSync(fifo, 'late\n');
    for (const told of [await readAll(backend.process, process_id), await followed]) {
      expect(told.exit).toMatchObject({ exit_code: 3, signal: null });
      expect(told.text()).toBe('early\nlate\n');
      expect(told.chunks.map(({ seq }) => seq)).toEqual([1, 3]);
    }
    const ended = await backend.process.get(process_id);
    expect(ended).toMatchObject({ state: 'closed', next_seq: 5 });
    expect(Date.parse(ended.closed_at as string)).toBeGreaterThanOrEqual(Date.parse(ended.exited_at as string));
  });

  it('an exit answers a poll without a chunk, and what comes after it answers the next one', async () => {
    const fifo = join(backend.dir, 'later');
    execFileSync('mkfifo', [fifo]);
    const { process_id } = await backend.sh(`cat '${fifo}' & exit 3`);
    const reading = readUntil(backend.process, process_id, 'late');
    expect(await readToExit(process_id)).toMatchObject({ chunks: [], exited: true, closed: false });
    appendFileSync(fifo, 'late\n');
    expect((await reading).text).toBe('late\n');
    await readAll(backend.process, process_id);
  });

  it('a process is shown whole at each stage, with null for what is not known', async () => {
    const running = await backend.sh('read x; printf abc', { pipe_stdin: true, labels: { a: 'b' }, cwd: backend.dir });
    expect(running).toMatchObject({
      state: 'running',
      argv: ['sh', '-c', 'read x; printf abc'],
      arg0: null,
      cwd: backend.dir,
      tty: null,
      labels: { a: 'b' },
      exited_at: null,
      closed_at: null,
      exit_code: null,
      signal: null,
      reason: null,
      first_seq: 1,
      next_seq: 1,
      retained_bytes: 0,
      total_bytes: 0,
      stdin: { open: true, accepted_bytes: 0 },
    });
    expect(running.pid).toBeGreaterThan(1);
    await backend.process.write(running.process_id, Buffer.from('\n'));
    await readAll(backend.process, running.process_id);
    const closed = await backend.process.get(running.process_id);
    expect(closed).toMatchObject({
      state: 'closed',
      pid: running.pid,
      exit_code: 0,
      signal: null,
      reason: 'exited',
      first_seq: 1,
      next_seq: 4,
      retained_bytes: 3,
      total_bytes: 3,
      stdin: { open: false, accepted_bytes: 1 },
    });
    const instants = [closed.created_at, closed.started_at, closed.exited_at, closed.closed_at].map((at) => Date.parse(at as string));
    expect(instants).toEqual([...instants].sort((a, b) => a - b));
  });

  it('get waits for the exit, and no longer than it was asked to', async () => {
    const { process_id } = await backend.sh('read x; exit 5', { pipe_stdin: true });
    const begun = performance.now();
    expect(await backend.process.get(process_id, { wait_ms: 200 })).toMatchObject({ state: 'running' });
    expect(performance.now() - begun).toBeGreaterThan(150);
    const waiting = backend.process.get(process_id, { wait_ms: 20_000 });
    await backend.process.write(process_id, Buffer.from('\n'));
    expect(await waiting).toMatchObject({ exit_code: 5 });
  });

  async function readToExit(process_id: string) {
    for (let after_seq = 0; ; ) {
      const answer = await backend.process.read(process_id, { after_seq, wait_ms: 20_000 });
      if (answer.exited) return answer;
      after_seq = answer.next_seq - 1;
    }
  }
});
