import { describe, expect, test } from 'vitest';
import type { Screen } from '../../src/protocol/index.js';
import { rssBytes, until } from '../support/proc.js';
import { useGateway } from '../wire/use-gateway.js';

const MIB = 1024 * 1024;

describe('screens under load', () => {
  const gateway = useGateway({ flags: ['--log-level', 'warn'] });
  const screen = async (process_id: string, query = '') => {
    const reply = await gateway.fetch(`/processes/${process_id}/screen${query}`, { headers: { accept: 'application/json' } });
    expect(reply.status).toBe(200);
    return (await reply.json()) as Screen;
  };

  test('a program that prints faster than is drawn goes on, and its screen is the end of it', async () => {
    const script = `yes | head -c ${32 * MIB}; echo; echo end; read x`;
    const { process_id } = await gateway.start(['sh', '-c', script], { tty: true, retain_bytes: 64 * 1024 });
    await screen(process_id);
    const before = rssBytes(gateway.server.pid);
    await until('all is printed', async () => (await screen(process_id, '?wait_ms=1000&quiet_ms=500')).text.endsWith('end'), 50_000);
    const last = await screen(process_id);
    expect(last).toMatchObject({ complete: false, text: `${'y\n'.repeat(21)}\nend`, cursor: { row: 23, col: 0 } });
    expect(rssBytes(gateway.server.pid) - before).toBeLessThan(64 * MIB);
  });

  test('a hundred screens take the memory of those that are kept', async () => {
    const script = 'for i in $(seq 1 2000); do printf "\\033[3%dmline %d \\033[0m\\n" $((i % 8)) $i; done; echo end; read x';
    const argv = ['sh', '-c', script];
    const ids = await Promise.all(Array.from({ length: 100 }, async () => (await gateway.start(argv, { tty: true })).process_id));
    for (const id of ids) for (let seq = 0; !(await screen(id, `?after_seq=${seq}&wait_ms=10000`)).text.endsWith('end'); seq++);
    const before: number[] = [];
    for (let round = 0; round < 12; round++) {
      before.push(rssBytes(gateway.server.pid));
      const shown = await Promise.all(ids.map((id) => screen(id, '?paint=true')));
      for (const { text, complete } of shown) expect([complete, text.endsWith('line 2000\nend')]).toEqual([true, true]);
    }
    // The first rounds fill what the engine uses again and again from then on.
    const growthSince = (round: number) => rssBytes(gateway.server.pid) - (before[round] as number);
    expect(growthSince(2)).toBeLessThan(64 * MIB);
    expect(growthSince(5)).toBeLessThan(32 * MIB);
  });
});
