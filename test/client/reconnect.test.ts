import { describe, expect, test } from 'vitest';
import { Gateway, type ProcessEvent, RemoteExecProcess } from '../../src/client/index.js';
import { encodeBase64 } from '../../src/protocol/base64.js';
import { sseText } from '../../src/protocol/sse.js';
import { room, StubGateway, type StubRequest, sendProblem, startEvents } from '../support/stub-gateway.js';

const QUICK = { first_delay_ms: 1, max_delay_ms: 5 };
const LAST = 400;

function eventText(seq: number): string {
  if (seq === LAST) return sseText({ event: 'closed', id: seq, data: JSON.stringify({ seq }) });
  if (seq === LAST - 1) return sseText({ event: 'exited', id: seq, data: JSON.stringify({ seq, exit_code: 0, signal: null }) });
  const chunk = encodeBase64(new TextEncoder().encode(`line ${seq}\n`));
  return sseText({ event: 'output', id: seq, data: JSON.stringify({ seq, stream: 'stdout', chunk }) });
}

const events = (from: number, to = LAST) => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => eventText(from + i)).join('');

async function gather(gateway: Gateway, after_seq = 0): Promise<ProcessEvent[]> {
  const all: ProcessEvent[] = [];
  for await (const event of gateway.follow('p', { after_seq })) all.push(event);
  return all;
}

const seqs = (all: ProcessEvent[]) => all.map((event) => (event.event === 'gap' ? -1 : event.seq));
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Begins the stream that was asked for, and breaks it after so many bytes. */
async function drop(call: StubRequest, text: string, bytes: number): Promise<void> {
  const response = startEvents(call);
  await new Promise((resolve) => response.write(text.slice(0, bytes), resolve));
  response.destroy();
}

describe('a follower whose connection drops', () => {
  test('30 drops at random places: nothing is missing, nothing comes twice', async () => {
    await using stub = await StubGateway.open(async (call) => {
      const { response, query, count } = call;
      const text = events(Number(query.get('after_seq')) + 1);
      if (count === 30) return void startEvents(call).end(text);
      if (count > 0 && count % 5 === 1) return void response.destroy();
      if (count > 0 && count % 5 === 2) return void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
      if (count > 0 && count % 5 === 3) return sendProblem(call, 'shutting_down');
      await drop(call, text, Math.floor(Math.random() * 3_000));
    });
    const all = await gather(new Gateway({ url: stub.url, retry: QUICK }));
    expect(seqs(all)).toEqual(numbers(1, LAST));
    const output = all.flatMap((event) => (event.event === 'output' ? [new TextDecoder().decode(event.chunk)] : []));
    expect(output).toEqual(numbers(1, LAST - 2).map((seq) => `line ${seq}\n`));
    expect(stub.queries).toHaveLength(31);
  });

  test('an end without closed is a drop', async () => {
    await using stub = await StubGateway.open((call) => {
      const from = Number(call.query.get('after_seq')) + 1;
      startEvents(call).end(events(from, call.count < 3 ? from + 9 : LAST));
    });
    expect(seqs(await gather(new Gateway({ url: stub.url, retry: QUICK })))).toEqual(numbers(1, LAST));
    expect(stub.queries.map((query) => query.get('after_seq'))).toEqual(['0', '10', '20', '30']);
  });

  test('events told before are passed over; events passed over are asked for again', async () => {
    await using stub = await StubGateway.open((call) => {
      if (call.count === 0) return void startEvents(call).end(events(1, 10));
      if (call.count === 1) return void startEvents(call).end(events(5, 20));
      if (call.count === 2) return void startEvents(call).end(events(21, 25) + events(27, 30));
      startEvents(call).end(events(21));
    });
    expect(seqs(await gather(new Gateway({ url: stub.url, retry: QUICK })))).toEqual(numbers(1, LAST));
    expect(stub.queries.map((query) => query.get('after_seq'))).toEqual(['0', '10', '20', '20']);
  });

  test('a gap moves the place; the header tells of the one it starts with', async () => {
    const gap = { from_seq: 1, to_seq: 390, bytes: 3_000, reason: 'evicted' };
    await using stub = await StubGateway.open(async (call) => {
      if (call.count > 0) return void startEvents(call).end(events(391));
      await drop(call, sseText({ event: 'gap', id: 390, data: JSON.stringify(gap) }), 1_000);
    });
    const processes = new RemoteExecProcess({ url: stub.url, retry: QUICK });
    const all: ProcessEvent[] = [];
    for await (const batch of await processes.follow('p')) all.push(...batch);
    expect(all[0]).toEqual({ event: 'gap', ...gap });
    expect(seqs(all.slice(1))).toEqual(numbers(391, LAST));
    expect(stub.queries[1]!.get('after_seq')).toBe('390');
  });

  test('the gap in the header and 204 are told by the subscription', async () => {
    const gap = { from_seq: 1, to_seq: 390, bytes: null, reason: 'evicted' };
    await using stub = await StubGateway.open((call) => {
      if (call.count > 0) return void call.response.writeHead(204).end();
      startEvents(call, { 'exec-gap': JSON.stringify(gap) }).end(sseText({ event: 'gap', data: JSON.stringify(gap) }) + events(391));
    });
    const processes = new RemoteExecProcess({ url: stub.url });
    const stream = await processes.follow('p');
    expect([stream.ended, stream.gap]).toEqual([false, gap]);
    await stream[Symbol.asyncIterator]().return?.();
    const over = await processes.follow('p', { after_seq: LAST });
    expect([over.ended, over.gap]).toEqual([true, null]);
    expect(await over[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });

  test('a silent connection is taken for dead', async () => {
    await using stub = await StubGateway.open(async (call) => {
      if (call.count === 0) return void startEvents(call).write(events(1, 10));
      if (call.count === 1) return; // never answers
      startEvents(call).end(events(11));
    });
    const gateway = new Gateway({ url: stub.url, retry: { ...QUICK, silence_ms: 100 } });
    expect(seqs(await gather(gateway))).toEqual(numbers(1, LAST));
    expect(stub.queries).toHaveLength(3);
  });

  test('heartbeats keep a connection without events', async () => {
    await using stub = await StubGateway.open(async (call) => {
      const response = startEvents(call);
      const beat = setInterval(() => response.write(': keep-alive\n\n'), 20);
      await new Promise((resolve) => setTimeout(resolve, 600));
      clearInterval(beat);
      response.end(events(1));
    });
    const gateway = new Gateway({ url: stub.url, retry: { ...QUICK, silence_ms: 300 } });
    expect(seqs(await gather(gateway))).toEqual(numbers(1, LAST));
    expect(stub.queries).toHaveLength(1);
  });

  test('what the gateway refuses on the way back is thrown', async () => {
    await using stub = await StubGateway.open((call) => {
      if (call.count > 0) return sendProblem(call, 'process_not_found');
      startEvents(call).end(events(1, 10));
    });
    await expect(gather(new Gateway({ url: stub.url, retry: QUICK }))).rejects.toMatchObject({ code: 'process_not_found' });
    expect(stub.queries).toHaveLength(2);
  });

  test('without progress it gives up with the last error', async () => {
    await using stub = await StubGateway.open(async (call) => {
      if (call.count > 0) return sendProblem(call, 'shutting_down');
      startEvents(call).end(events(1, 10));
    });
    const gateway = new Gateway({ url: stub.url, retry: { ...QUICK, give_up_ms: 200 } });
    await expect(gather(gateway)).rejects.toMatchObject({ code: 'shutting_down' });
    expect(stub.queries.length).toBeGreaterThan(3);
  });

  test('the first connection is tried once', async () => {
    await using stub = await StubGateway.open(({ response }) => response.destroy());
    const processes = new RemoteExecProcess({ url: stub.url });
    await expect(processes.follow('p')).rejects.toMatchObject({ code: 'upstream_unreachable' });
    await expect(processes.watch()).rejects.toMatchObject({ code: 'upstream_unreachable' });
    expect(stub.queries).toHaveLength(2);
  });
});

test('a watcher whose connection drops gets another snapshot', async () => {
  await using stub = await StubGateway.open(async (call) => {
    const { count } = call;
    const text = sseText({ event: 'snapshot', id: count, data: '{"processes":[]}' });
    const removed = sseText({ event: 'removed', id: count + 1, data: JSON.stringify({ process_id: `p${count}` }) });
    startEvents(call).end(text + removed);
  });
  const seen: unknown[] = [];
  for await (const change of new Gateway({ url: stub.url, retry: QUICK }).watch({ label: ['a=1', 'b=2'], output: true })) {
    if (seen.push(change) === 4) break;
  }
  expect(seen).toEqual([
    { event: 'snapshot', id: 0, processes: [] },
    { event: 'removed', id: 1, process_id: 'p0' },
    { event: 'snapshot', id: 1, processes: [] },
    { event: 'removed', id: 2, process_id: 'p1' },
  ]);
  expect(stub.queries[1]!.toString()).toBe('label=a%3D1&label=b%3D2&output=true');
});

test('nothing is read ahead of a reader that has stopped', async () => {
  let sent = 0;
  let stalled: () => void = () => {};
  const stall = new Promise<void>((resolve) => {
    stalled = resolve;
  });
  await using stub = await StubGateway.open(async (call) => {
    const response = startEvents(call);
    const chunk = encodeBase64(new Uint8Array(48 * 1024));
    for (let seq = 1; !response.destroyed; seq++) {
      const text = sseText({ event: 'output', id: seq, data: JSON.stringify({ seq, stream: 'stdout', chunk }) });
      sent += text.length;
      if (response.write(text)) continue;
      const timer = setTimeout(stalled, 1_000);
      await room(response);
      clearTimeout(timer);
    }
  });
  const stream = (await new RemoteExecProcess({ url: stub.url }).follow('p'))[Symbol.asyncIterator]();
  const first = await stream.next();
  expect(first.value?.length).toBeGreaterThan(0);
  await stall;
  expect(sent).toBeLessThan(24 * 1024 * 1024); // what the sockets of both sides hold
  await stream.return?.();
});
