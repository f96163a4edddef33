import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type AttachOptions, attach } from '../../src/client/index.js';
import type { GatewayError, ProcessEvent } from '../../src/protocol/index.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { until } from '../support/proc.js';
import { SilentLine } from '../support/silent-line.js';
import { codeOf, sha256 } from '../support/told.js';
import { Uplink } from '../support/uplink.js';
import { useGateway } from '../wire/use-gateway.js';

const NUMBERS = fileURLToPath(new URL('../fixtures/numbers.mjs', import.meta.url));
const gateway = useGateway({ flags: ['--allow-host', '127.0.0.1'] });
const RETRY = { first_delay_ms: 5, max_delay_ms: 50 };

const to = (process_id: string, rest: Partial<AttachOptions> = {}) =>
  attach({ url: gateway.server.url, token: gateway.server.token ?? undefined, process_id, WebSocket, retry: RETRY, ...rest });

async function all(events: AsyncIterable<ProcessEvent[]>): Promise<ProcessEvent[]> {
  const told: ProcessEvent[] = [];
  for await (const batch of events) told.push(...batch);
  return told;
}

const text = (events: ProcessEvent[]) =>
  Buffer.concat(events.flatMap((event) => (event.event === 'output' ? [event.chunk] : []))).toString();
const seqs = (events: ProcessEvent[]) => events.map((event) => (event.event === 'gap' ? 'gap' : event.seq));

describe('attach', () => {
  test('B22 output comes once and in order over a line that breaks 30 times', async () => {
    await using proxy = await CuttingProxy.open(gateway.server.url, (count) =>
      count < 30 ? 1_500 + Math.floor(Math.random() * 8_000) : null,
    );
    const { process_id } = await gateway.start([process.execPath, NUMBERS, '50000', '2000']);
    const lines: (GatewayError | null)[] = [];
    const attached = await to(process_id, { url: proxy.url, on_line: (lost) => lines.push(lost) });
    const events = await all(attached);
    expect(proxy.cuts).toBe(30);
    expect(seqs(events)).toEqual(events.map((_event, at) => at + 1));
    expect(events.slice(-2).map(({ event }) => event)).toEqual(['exited', 'closed']);
    expect(text(events)).toBe(Array.from({ length: 50_000 }, (_, i) => `${i + 1}\n`).join(''));
    expect(lines.filter((lost) => lost === null).length).toBeGreaterThan(0);
  });

  test('input arrives once and in order over a line that breaks 20 times', async () => {
    await using uplink = await Uplink.open(gateway.server.url, (count) => (count < 20 ? 5_000 + Math.floor(Math.random() * 60_000) : null));
    const { process_id } = await gateway.start(['sha256sum'], { pipe_stdin: true });
    const attached = await to(process_id, { url: uplink.url });
    const input = randomBytes(2_000_000);
    const told = all(attached);
    for (let at = 0; at < input.length; ) {
      const end = at + 1 + Math.floor(Math.random() * 20_000);
      await attached.write(input.subarray(at, end));
      at = end;
    }
    attached.end();
    expect(text(await told)).toContain(sha256(input));
    expect(uplink.cuts).toBe(20);
  });

  test('two that write at once lose nothing of each other', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const writers = await Promise.all([to(process_id), to(process_id)]);
    const told = all(writers[0]!);
    void all(writers[1]!);
    await Promise.all(
      writers.map(async (writer, at) => {
        for (let i = 0; i < 200; i++) await writer.write('ab'[at] as string);
      }),
    );
    writers[0]?.end();
    const both = text(await told);
    for (const letter of 'ab') expect(both.replaceAll(new RegExp(`[^${letter}]`, 'g'), '')).toBe(letter.repeat(200));
  });

  test('refusals are those of the gateway, before and after', async () => {
    expect(await codeOf(to('none'))).toBe('process_not_found');
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    expect(await codeOf(to(process_id, { after_seq: 9 }))).toBe('cursor_ahead');
    expect(await codeOf(to(process_id, { token: 'another-token-altogether' }))).toBe('unauthorized');
    expect(await codeOf(to(process_id, { url: 'http://127.0.0.1:1' }))).toBe('upstream_unreachable');
    const refused: string[] = [];
    const attached = await to(process_id, { on_refused: (about, { code }) => refused.push(`${about} ${code}`) });
    attached.resize({ cols: 9, rows: 9 });
    await attached.write('x');
    await until('the resize is refused', () => refused.length > 0);
    expect(refused).toEqual(['resize not_a_tty']);
    attached.detach();
    const looking = await to(process_id, { read_only: true });
    expect(await codeOf(looking.write('y'))).toBe('read_only');
    expect(text((await looking.next()).value ?? [])).toBe('x');
    looking.detach();
    expect(await all(looking)).toEqual([]);
  });

  test('a gateway that takes the connection and says nothing is given up: at first, and on the way back', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const patient = { retry: { ...RETRY, silence_ms: 300 } };
    expect(await codeOf(to('any', { url: `http://127.0.0.1:${port}`, ...patient }))).toBe('upstream_unreachable');
    silent.close();
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    await using line = await SilentLine.open(gateway.server.url);
    const lines: boolean[] = [];
    const attached = await to(process_id, { url: line.url, ...patient, on_line: (lost) => lines.push(lost !== null) });
    line.silent = true;
    line.breakAll();
    await until('an attempt has met silence', () => line.count > 1);
    line.silent = false;
    await attached.write('back');
    attached.end();
    expect([text(await all(attached)), lines]).toEqual(['back', [true, false]]);
  });

  test('one that does not take its events in time stops reading, and misses nothing', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'seq 1 2000000'], { retain_bytes: 64 * 1024 * 1024 });
    const attached = await to(process_id);
    await gateway.fetch(`/processes/${process_id}?wait_ms=20000`);
    const events = await all(attached);
    expect(text(events)).toHaveLength(14_888_896);
    expect(seqs(events)).toEqual(events.map((_event, at) => at + 1));
  });

  test('it ends by its signal, at any time', async () => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const reason = new Error('given up');
    await expect(to(process_id, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const given_up = new AbortController();
    const attached = await to(process_id, { signal: given_up.signal });
    const next = attached.next();
    given_up.abort(reason);
    await expect(next).rejects.toBe(reason);
  });
});
