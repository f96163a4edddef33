import { describe, expect, it } from 'vitest';
import { BACKENDS_AND_LAUNCHERS, useBackend } from '../support/backends.js';
import { commandLine, isRunning, sessionMembers, until } from '../support/proc.js';
import { codeOf, readAll, readUntil } from '../support/told.js';

/** The output is closed a moment before the system has done with the last process. */
const gone = (session: number | null) => until('nobody is left of the session', () => sessionMembers(session).length === 0);

describe.each(BACKENDS_AND_LAUNCHERS)('%s', (name) => {
  const backend = useBackend(name);

  describe.each([false, true])('tty %s', (tty) => {
    const DEAF = tty ? "trap '' TERM HUP" : "trap '' TERM";

    it('B11 no worker is left, though the wrapper ignores SIGTERM', async () => {
      const { process_id, pid } = await backend.sh(`${DEAF}; sleep 301 & sleep 302 & echo ready; wait`, { tty });
      await readUntil(backend.process, process_id, 'ready');
      expect(sessionMembers(pid).length).toBeGreaterThanOrEqual(1);
      const begun = performance.now();
      expect(await backend.process.terminate(process_id, { grace_ms: 300, wait_ms: 10_000 })).toEqual({ running: true });
      expect(performance.now() - begun).toBeGreaterThan(290);
      await gone(pid);
      expect(await backend.process.get(process_id)).toMatchObject({
        state: 'closed',
        exit_code: 137,
        signal: 'SIGKILL',
        reason: 'terminated',
      });
      // Again: nothing to end, no error, the same truth.
      expect(await backend.process.terminate(process_id)).toEqual({ running: false });
      expect(await backend.process.get(process_id)).toMatchObject({ exit_code: 137, reason: 'terminated' });
      expect(await backend.process.terminate(process_id, { purge: true })).toEqual({ running: false });
      expect(await codeOf(backend.process.terminate(process_id))).toBe('process_not_found');
    });

    it('a program may end in its own way within the grace', async () => {
      const { process_id } = await backend.sh("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.02; done", { tty });
      await readUntil(backend.process, process_id, 'ready');
      const begun = performance.now();
      await backend.process.terminate(process_id, { grace_ms: 30_000, wait_ms: 20_000 });
      expect(performance.now() - begun).toBeLessThan(10_000);
      expect((await readAll(backend.process, process_id)).text()).toContain('bye');
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', exit_code: 3, signal: null, reason: 'terminated' });
    });

    it('without a grace it is SIGKILL at once', async () => {
      const { process_id } = await backend.sh("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.02; done", { tty });
      await readUntil(backend.process, process_id, 'ready');
      await backend.process.terminate(process_id, { grace_ms: 0, wait_ms: 20_000 });
      expect((await readAll(backend.process, process_id)).text()).not.toContain('bye');
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', signal: 'SIGKILL', reason: 'terminated' });
    });

    it('asked again with a shorter grace it hurries up', async () => {
      const { process_id } = await backend.sh(`${DEAF}; echo ready; while :; do sleep 0.02; done`, { tty });
      await readUntil(backend.process, process_id, 'ready');
      await backend.process.terminate(process_id, { grace_ms: 600_000 });
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'running', reason: null });
      await backend.process.terminate(process_id, { grace_ms: 0, wait_ms: 20_000 });
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', signal: 'SIGKILL' });
    });

    it('a stopped program is ended too', async () => {
      const { process_id } = await backend.sh("trap 'exit 4' TERM; echo ready; kill -STOP $$; while :; do sleep 0.02; done", { tty });
      await readUntil(backend.process, process_id, 'ready');
      await backend.process.terminate(process_id, { grace_ms: 20_000, wait_ms: 20_000 });
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', exit_code: 4, reason: 'terminated' });
    });

    it('after timeout_ms the whole group is ended', async () => {
      const { process_id, pid } = await backend.sh('sleep 303 & echo ready; wait', { tty, timeout_ms: 300 });
      await readAll(backend.process, process_id);
      expect(await backend.process.get(process_id)).toMatchObject({ signal: 'SIGTERM', exit_code: 143, reason: 'timed_out' });
      await gone(pid);
    });

    it('timeout_ms also ends what holds the output after the program has ended, which was not timed out', async () => {
      const script = "trap '' HUP; (echo ready; exec sleep 310) & read x; exit 3";
      const { process_id, pid } = await backend.sh(script, { tty, pipe_stdin: true, timeout_ms: 2_000 });
      await readUntil(backend.process, process_id, 'ready');
      await backend.process.write(process_id, Buffer.from('\n'));
      expect(await backend.process.get(process_id, { wait_ms: 20_000 })).toMatchObject({ state: 'exited', exit_code: 3, closed_at: null });
      expect(sessionMembers(pid)).toHaveLength(1);
      await readAll(backend.process, process_id);
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', exit_code: 3, signal: null, reason: 'exited' });
      await gone(pid);
    });

    it('a program that ends in time is not timed out', async () => {
      const { process_id } = await backend.sh('exit 6', { tty, timeout_ms: 60_000 });
      await readAll(backend.process, process_id);
      expect(await backend.process.get(process_id)).toMatchObject({ exit_code: 6, signal: null, reason: 'exited' });
    });

    it('what is left of a group is ended though its leader is gone', async () => {
      const { process_id, pid } = await backend.sh("(trap '' HUP TERM; echo ready; sleep 304; true) & read x", { tty, pipe_stdin: true });
      await readUntil(backend.process, process_id, 'ready');
      await backend.process.write(process_id, Buffer.from('\n'));
      await backend.process.get(process_id, { wait_ms: 20_000 });
      expect(sessionMembers(pid).length).toBeGreaterThan(0);
      expect(await backend.process.terminate(process_id, { grace_ms: 100, wait_ms: 10_000 })).toEqual({ running: false });
      await gone(pid);
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', exit_code: 0, signal: null, reason: 'exited' });
    });

    it('a descendant in a session of its own holds nothing up, and lives on', async () => {
      const { process_id } = await backend.sh('setsid sh -c "echo pid \\$\\$.; exec sleep 305" & wait', { tty });
      const { text } = await readUntil(backend.process, process_id, '.');
      const stray = Number(/pid (\d+)/.exec(text)?.[1]);
      const begun = performance.now();
      await backend.process.terminate(process_id, { grace_ms: 500, wait_ms: 20_000 });
      expect(performance.now() - begun).toBeLessThan(2_500);
      expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', reason: 'terminated' });
      expect(isRunning(stray)).toBe(true);
      process.kill(stray, 'SIGKILL');
      await until('the stray is gone', () => !isRunning(stray));
    });

    it('purge forgets a running process at once and ends it all the same', async () => {
      const { process_id, pid } = await backend.sh('echo ready; exec sleep 306', { tty });
      await readUntil(backend.process, process_id, 'ready');
      expect(await backend.process.terminate(process_id, { purge: true })).toEqual({ running: true });
      expect(await codeOf(backend.process.get(process_id))).toBe('process_not_found');
      expect((await backend.process.list()).processes).toEqual([]);
      await until('the process is gone', () => !isRunning(pid as number));
    });
  });

  it('an interactive shell ends as when its terminal closes, long before the grace, with its jobs', async () => {
    const { process_id, pid } = await backend.start(['bash', '--norc', '-i'], { tty: true, env: { PS1: '$ ', HISTFILE: '' } });
    await readUntil(backend.process, process_id, '$ ');
    await backend.process.write(process_id, Buffer.from('sleep 311 & sleep 312 & echo rea""dy\n'));
    await readUntil(backend.process, process_id, 'ready');
    // A job that is not yet the program it becomes loses the signal that its shell hands on.
    const jobs = () => sessionMembers(pid).filter((member) => /: sleep 31[12]/.test(commandLine(member)));
    await until('both jobs run', () => jobs().length === 2);
    const begun = performance.now();
    await backend.process.terminate(process_id, { grace_ms: 30_000, wait_ms: 20_000 });
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(await backend.process.get(process_id)).toMatchObject({
      state: 'closed',
      exit_code: 129,
      signal: 'SIGHUP',
      reason: 'terminated',
    });
    await gone(pid);
  });

  it('a stopped shell too', async () => {
    const { process_id, pid } = await backend.start(['bash', '--norc', '-i'], { tty: true, env: { PS1: '$ ', HISTFILE: '' } });
    await readUntil(backend.process, process_id, '$ ');
    await backend.process.signal(process_id, { signal: 'STOP', scope: 'leader' });
    await backend.process.terminate(process_id, { grace_ms: 30_000, wait_ms: 10_000 });
    expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', signal: 'SIGHUP', reason: 'terminated' });
    await gone(pid);
  });

  it('on a terminal a program that heeds SIGTERM alone ends in its own way, and one under nohup that ignores it by SIGKILL', async () => {
    const own = await backend.sh("trap 'sleep 0.3; exit 3' TERM; echo ready; while :; do sleep 0.02; done", { tty: true });
    const deaf = await backend.sh("trap '' TERM; exec nohup sh -c 'echo ready >/dev/tty; while :; do sleep 0.1; done' >/dev/null", {
      tty: true,
    });
    for (const { process_id } of [own, deaf]) await readUntil(backend.process, process_id, 'ready');
    await backend.process.terminate(own.process_id, { grace_ms: 20_000, wait_ms: 20_000 });
    expect(await backend.process.get(own.process_id)).toMatchObject({ exit_code: 3, signal: null, reason: 'terminated' });
    const begun = performance.now();
    await backend.process.terminate(deaf.process_id, { grace_ms: 500, wait_ms: 20_000 });
    expect(performance.now() - begun).toBeGreaterThan(490);
    expect(await backend.process.get(deaf.process_id)).toMatchObject({ exit_code: 137, signal: 'SIGKILL', reason: 'terminated' });
  });

  it('a terminal ends with all jobs of its shell', async () => {
    const { process_id, pid } = await backend.sh("set -m; (trap '' HUP TERM; exec sleep 307) & sleep 308 & echo ready; wait", {
      tty: true,
    });
    await readUntil(backend.process, process_id, 'ready');
    await backend.process.terminate(process_id, { grace_ms: 200, wait_ms: 20_000 });
    await gone(pid);
    expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', reason: 'terminated' });
  });

  it('whoever waits is answered when the process is ended', async () => {
    const { process_id } = await backend.sh('echo ready; exec sleep 309');
    const { after_seq } = await readUntil(backend.process, process_id, 'ready');
    const waiting = Promise.all([
      backend.process.read(process_id, { after_seq, wait_ms: 20_000 }),
      backend.process.get(process_id, { wait_ms: 20_000 }),
    ]);
    await backend.process.terminate(process_id);
    const [answer, info] = await waiting;
    expect(answer).toMatchObject({ exited: true, signal: 'SIGTERM' });
    expect(info).toMatchObject({ signal: 'SIGTERM', reason: 'terminated' });
  });
});
