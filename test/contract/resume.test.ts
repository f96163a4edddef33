import { fileURLToPath } from 'node:url';
import { createParser } from 'eventsource-parser';
import { describe, expect, it } from 'vitest';
import { RemoteExecProcess } from '../../src/client/remote-exec-process.js';
import type { ExecProcess, ProcessEvent } from '../../src/protocol/index.js';
import { BACKENDS_AND_SOCKETS, type Backend, useBackend } from '../support/backends.js';
import { CuttingProxy } from '../support/cutting-proxy.js';

const NUMBERS = fileURLToPath(new URL('../fixtures/numbers.mjs', import.meta.url));
const LINES = 50_000;
const DROPS = 30;

/** What all readers together must have seen, in this order, over however many connections. */
const WHOLE = Array.from({ length: LINES }, (_, i) => `${i + 1}\n`).join('');

const numbers = (backend: Backend) => backend.start([process.execPath, NUMBERS, String(LINES), '2000']);

/** Holds the events of all connections to the rule: no hole, no repetition, one exited, then one closed. */
function expectWhole(events: ProcessEvent[]): void {
  const seqs = events.map((event) => (event.event === 'gap' ? 'gap' : event.seq));
  expect(seqs).toEqual(Array.from({ length: events.length }, (_, i) => i + 1));
  expect(events.slice(-2).map(({ event }) => event)).toEqual(['exited', 'closed']);
  const output = events.slice(0, -2).map((event) => (event.event === 'output' ? event.chunk : Buffer.from(event.event)));
  expect(Buffer.concat(output).toString()).toBe(WHOLE);
}

const seqOf = (event: ProcessEvent | undefined) => (event === undefined ? 0 : event.event === 'gap' ? event.to_seq : event.seq);

describe.each(BACKENDS_AND_SOCKETS)('%s', (name) => {
  const backend = useBackend(name, { flags: ['--allow-host', '127.0.0.1'] });

  it('B22 a follower leaves and comes back 30 times', async () => {
    const { process_id } = await numbers(backend);
    const events: ProcessEvent[] = [];
    for (let drops = 0; events.at(-1)?.event !== 'closed'; drops++) {
      const stay = drops < DROPS ? Math.floor(Math.random() * 30) : Number.POSITIVE_INFINITY;
      events.push(...(await followFor(backend.process, process_id, seqOf(events.at(-1)), stay)));
    }
    expectWhole(events);
  });

  it('B22 a reader changes between follow and long-poll', async () => {
    const { process_id } = await numbers(backend);
    const events: ProcessEvent[] = [];
    while (events.at(-1)?.event !== 'exited' && events.at(-1)?.event !== 'closed') {
      events.push(...(await followFor(backend.process, process_id, seqOf(events.at(-1)), 20)));
      if (events.some(({ event }) => event === 'exited')) break;
      const { chunks, exited } = await backend.process.read(process_id, { after_seq: seqOf(events.at(-1)), wait_ms: 20_000 });
      events.push(...chunks);
      if (exited) break;
    }
    events.push(...(await followFor(backend.process, process_id, seqOf(events.at(-1)), Number.POSITIVE_INFINITY)));
    expectWhole(events);
  });

  async function followFor(processes: ExecProcess, process_id: string, after_seq: number, batches: number): Promise<ProcessEvent[]> {
    const events: ProcessEvent[] = [];
    let left = batches;
    for await (const batch of await processes.follow(process_id, { after_seq })) {
      events.push(...batch);
      if (left-- <= 0) break;
    }
    return events;
  }
});

describe.each(['remote', 'proxied'] as const)('%s, over a line that breaks', (name) => {
  const backend = useBackend(name, { flags: ['--allow-host', '127.0.0.1'] });

  it('B22 a follower outlives 30 broken connections', async () => {
    const server = backend.servers.at(-1);
    // Cut anywhere, also in the middle of an event.
    const cut = (count: number) => (count < DROPS ? 500 + Math.floor(Math.random() * 8_000) : null);
    await using proxy = await CuttingProxy.open(server?.url as string, cut);
    const retry = { first_delay_ms: 5, max_delay_ms: 50 };
    const processes = new RemoteExecProcess({ url: proxy.url, token: server?.token ?? undefined, retry });
    const { process_id } = await numbers(backend);
    const events: ProcessEvent[] = [];
    for await (const batch of await processes.follow(process_id)) events.push(...batch);
    expect(proxy.cuts).toBe(DROPS);
    expectWhole(events);
  });

  it('B22 a browser comes back 30 times with Last-Event-ID, to the address it had', async () => {
    const { process_id } = await numbers(backend);
    const events: ProcessEvent[] = [];
    for (let drops = 0; events.at(-1)?.event !== 'closed'; drops++) {
      await browse(`/processes/${process_id}/events?after_seq=0`, events, drops < DROPS ? Math.floor(Math.random() * 30) : LINES);
    }
    expectWhole(events);
    const headers = { 'Last-Event-ID': String(seqOf(events.at(-1))) };
    const over = await backend.servers.at(-1)?.fetch(`/processes/${process_id}/events?after_seq=0`, { headers });
    expect(over?.status).toBe(204);
  });

  /** Takes events as a browser does, each one with its id, and drops the connection after some reads. */
  async function browse(path: string, events: ProcessEvent[], reads: number): Promise<void> {
    const drop = new AbortController();
    const headers = { Accept: 'text/event-stream', ...(events.length > 0 ? { 'Last-Event-ID': String(seqOf(events.at(-1))) } : {}) };
    const response = (await backend.servers.at(-1)?.fetch(path, { headers, signal: drop.signal })) as Response;
    const parser = createParser({
      onEvent: ({ event, id, data }) => {
        const fields = JSON.parse(data);
        expect(Number(id)).toBe(fields.seq);
        events.push({ event, ...fields, ...(event === 'output' ? { chunk: Buffer.from(fields.chunk, 'base64') } : {}) });
      },
    });
    const decoder = new TextDecoder();
    let left = reads;
    for await (const bytes of response.body as ReadableStream<Uint8Array>) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      if (left-- <= 0) break;
    }
    drop.abort();
  }
});
