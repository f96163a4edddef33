import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BACKENDS_AND_LAUNCHERS, useBackend } from '../support/backends.js';
import { errorOf, readAll, readUntil } from '../support/told.js';

describe.each(BACKENDS_AND_LAUNCHERS)('%s', (name) => {
  const backend = useBackend(name);

  it('B14 a resize meets the end of its process at any moment', async () => {
    const outcomes = new Set<string>();
    const run = async (seconds: number) => {
      const { process_id } = await backend.sh(`sleep ${seconds}`, { tty: true });
      const client = async (cols: number) => {
        for (let rows = 10; ; rows = rows === 10 ? 20 : 10) {
          const outcome = await backend.process.resize(process_id, { cols, rows }).then(
            () => 'resized',
            (error) => error.code as string,
          );
          outcomes.add(outcome);
          if (outcome !== 'resized') return;
          await setImmediate(); // calls within this program would leave it no turn to see the end
        }
      };
      await Promise.all([client(80), client(120)]);
      expect(await backend.process.get(process_id, { wait_ms: 20_000 })).toMatchObject({ exit_code: 0 });
    };
    for (let seconds = 0.05; seconds < 0.5 || outcomes.size < 2; seconds *= 2)
      await Promise.all(Array.from({ length: 10 }, () => run(seconds)));
    expect([...outcomes].sort()).toEqual(['process_exited', 'resized']);
  });

  it('B14 without a terminal there is nothing to resize', async () => {
    const { process_id } = await backend.start(['sleep', '60']);
    expect(await errorOf(backend.process.resize(process_id, { cols: 80, rows: 24 }))).toMatchObject({ code: 'not_a_tty', status: 409 });
    expect(await backend.process.get(process_id)).toMatchObject({ state: 'running', tty: null });
  });

  it('a terminal has its size before the first instruction, and 80 x 24 unless asked for', async () => {
    for (const [tty, cols, rows] of [
      [true, 80, 24],
      [{}, 80, 24],
      [{ cols: 132 }, 132, 24],
      [{ rows: 50 }, 80, 50],
      [{ cols: 1, rows: 1 }, 1, 1],
      [{ cols: 65_535, rows: 65_535 }, 65_535, 65_535],
    ] as const) {
      const started = await backend.start(['stty', 'size'], { tty });
      expect(started.tty).toEqual({ cols, rows });
      expect((await readAll(backend.process, started.process_id)).text().trim()).toBe(`${rows} ${cols}`);
    }
  });

  it('TERM is what was asked for, and env has the last word', async () => {
    for (const [tty, env, term] of [
      [true, {}, 'xterm-256color'],
      [{ term: 'vt100' }, {}, 'vt100'],
      [{ term: 'vt100' }, { TERM: 'dumb' }, 'dumb'],
    ] as const) {
      const { process_id } = await backend.sh('echo "[$TERM]"', { tty, env });
      expect((await readAll(backend.process, process_id)).text().trim()).toBe(`[${term}]`);
    }
  });

  it('a resize is told to the program, and shown', async () => {
    const script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done";
    const { process_id } = await backend.sh(script, { tty: true });
    const { after_seq } = await readUntil(backend.process, process_id, 'ready');
    await backend.process.resize(process_id, { cols: 100, rows: 30 });
    await readUntil(backend.process, process_id, '30 100', { after_seq });
    expect(await backend.process.get(process_id)).toMatchObject({ tty: { cols: 100, rows: 30 } });
  });

  it('standard streams are the controlling terminal, and all output is one stream', async () => {
    const { process_id } = await backend.sh('test -t 0 && test -t 1 && test -t 2 && echo out && echo err >&2 && echo tty > /dev/tty', {
      tty: true,
    });
    const told = await readAll(backend.process, process_id);
    expect(told.exit).toMatchObject({ exit_code: 0 });
    expect(told.text()).toBe('out\r\nerr\r\ntty\r\n');
    expect(new Set(told.chunks.map(({ stream }) => stream))).toEqual(new Set(['pty']));
  });

  it('a terminal ends 5 s after its program at the latest, whoever still holds it', async () => {
    const { process_id } = await backend.sh('setsid sh -c "echo held by \\$\\$.; exec sleep 60" & read x; exit 3', { tty: true });
    const { after_seq, text } = await readUntil(backend.process, process_id, '.');
    await backend.process.write(process_id, Buffer.from('\n'));
    expect(await backend.process.get(process_id, { wait_ms: 20_000 })).toMatchObject({ state: 'exited', exit_code: 3 });
    const begun = performance.now();
    await readAll(backend.process, process_id, { after_seq });
    expect(performance.now() - begun).toBeLessThan(6_000);
    expect(await backend.process.get(process_id)).toMatchObject({ state: 'closed', exit_code: 3 });
    process.kill(Number(/held by (\d+)/.exec(text)?.[1]), 'SIGKILL');
  });
});
