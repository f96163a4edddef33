import { describe, expect, it } from 'vitest';
import { ALL_BACKENDS, useBackend } from '../support/backends.js';
import { followAll, readAll, type Told } from '../support/told.js';

const LINES = Array.from({ length: 60_000 }, (_, i) => i + 1);
const ON_PIPE = LINES.map((n) => `${n}\n`).join('');
const ON_TTY = LINES.map((n) => `${n}\r\n`).join('');

describe.each(ALL_BACKENDS)('%s', (name) => {
  const backend = useBackend(name);

  it.each(name === 'local' || name === 'portable' ? [1, 2, 3] : [1])(
    'B01 40 short commands on terminals lose nothing, round %i',
    async () => {
      const told = await Promise.all(
        Array.from({ length: 40 }, async () => {
          const { process_id } = await backend.start(['seq', '1', '60000'], { tty: true });
          return readAll(backend.process, process_id);
        }),
      );
      for (const one of told) {
        expect(one.bytes()).toHaveLength(408_894);
        expect(one.text()).toBe(ON_TTY);
        // The exit is told after the last chunk.
        expect(one.exit).toEqual({ exit_code: 0, signal: null, after_chunks: one.chunks.length });
      }
    },
  );

  const rounds = name === 'local' ? 6 : 3;
  it(`B02 ${rounds * 10} commands with much on both streams, polled and followed at once, lose nothing`, async () => {
    for (let round = 0; round < rounds; round++) await Promise.all(Array.from({ length: 10 }, both));
  });

  async function both(): Promise<void> {
    const { process_id } = await backend.sh('seq 1 60000; seq 1 60000 >&2');
    const [polled, followed] = await Promise.all([readAll(backend.process, process_id), followAll(backend.process, process_id)]);
    for (const told of [polled, followed]) expectAll(told);
    // It stays readable after its end.
    expectAll(await readAll(backend.process, process_id));
  }

  function expectAll(told: Told): void {
    expect(told.gaps).toEqual([]);
    expect(told.text('stdout')).toBe(ON_PIPE);
    expect(told.text('stderr')).toBe(ON_PIPE);
    expect(told.exit).toMatchObject({ exit_code: 0, signal: null });
  }

  it('what was printed just before the end is there, however it ended', async () => {
    for (const [script, exit] of [
      ['seq 1 60000; kill -9 $$', { exit_code: 137, signal: 'SIGKILL' }],
      ['seq 1 60000; exit 3', { exit_code: 3, signal: null }],
    ] as const) {
      for (const tty of [false, true]) {
        const { process_id } = await backend.sh(script, { tty });
        const told = await readAll(backend.process, process_id);
        expect(told.text()).toBe(tty ? ON_TTY : ON_PIPE);
        expect(told.exit).toMatchObject(exit);
      }
    }
  });
});
