import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENT_FRAMES_TYPE } from '../../src/protocol/index.js';
import { type Client, type ClientRuntime, openRuntime, RUNTIMES } from '../support/client-runtime.js';
import { room, StubGateway, startEvents } from '../support/stub-gateway.js';

/** All events of one process, as text with `\n` for every line's end. The last one is not finished. */
const UNFINISHED = [
  ': é€😀 a comment\n\n',
  'id: 1\nevent: output\ndata: {"seq":1,"stream":"stdout","chunk":"aGk="}\n\n',
  'event:output\nid:2\ndata:{"seq":2,\ndata: "stream":"stderr",\ndata:"chunk":"/wA="}\n\n',
  ':\nunknown: field\nevent: news\ndata: {"of": "a newer gateway"}\n\n',
  'id: 3\nevent: exited\ndata: {"seq":3,"exit_code":0,"signal":"é€😀"}\n\n',
  'id: 4\nevent: closed\ndata: {"seq":4}\n',
].join('');
const REST = 'id: 4\nevent: closed\ndata: {"seq":4}\n\n';

/** The same events with their bytes as they are. */
const UNFINISHED_FRAMES = Buffer.concat([
  Buffer.from('\n{"event":"output","seq":1,"stream":"stdout","bytes":2}\nhi\n'),
  Buffer.from('{"event":"output","seq":2,"stream":"stderr","bytes":2}\n'),
  Buffer.from([255, 0]),
  Buffer.from(
    '{"event":"news","of":"a newer gateway"}\n{"event":"exited","seq":3,"exit_code":0,"signal":"é€😀"}\n{"event":"closed","seq":4}',
  ),
]);

const EXPECTED = {
  events: [
    { event: 'output', seq: 1, stream: 'stdout', chunk: [104, 105] },
    { event: 'output', seq: 2, stream: 'stderr', chunk: [255, 0] },
    { event: 'exited', seq: 3, exit_code: 0, signal: 'é€😀' },
    { event: 'closed', seq: 4 },
  ],
};

const LINE_ENDS = { LF: '\n', CRLF: '\r\n', CR: '\r' };
const SPLITS = { whole: Number.MAX_SAFE_INTEGER, 'byte by byte': 1, 'three bytes at a time': 3 };

/** Follows a process and gives all events, with bytes as numbers. */
async function followAll({ Gateway }: Client, url: string) {
  const events: unknown[] = [];
  for await (const event of new Gateway({ url, retry: { first_delay_ms: 1 } }).follow('p')) {
    events.push(event.event === 'output' ? { ...event, chunk: Array.from(event.chunk) } : event);
  }
  return { events };
}

async function followEndless({ Gateway, GatewayError }: Client, url: string) {
  try {
    for await (const _ of new Gateway({ url, retry: { give_up_ms: 0 } }).follow('p'));
    return null;
  } catch (error) {
    return error instanceof GatewayError ? { code: error.code, message: error.message } : { code: 'other', message: String(error) };
  }
}

describe.each(RUNTIMES)('B58 event streams in %s', (name) => {
  let runtime: ClientRuntime;
  beforeAll(async () => {
    runtime = await openRuntime(name);
  });
  afterAll(() => runtime?.close());

  const cases = Object.keys(LINE_ENDS).flatMap((end) => Object.keys(SPLITS).map((split) => ({ end, split })));
  test.each(cases)('B58 %o: the same events, and the unfinished last one is read again', async ({ end, split }) => {
    const bytes = Buffer.from(`\uFEFF${UNFINISHED}`.replaceAll('\n', LINE_ENDS[end as 'LF']));
    const size = SPLITS[split as 'whole'];
    await using stub = await StubGateway.open(async (call) => {
      const response = startEvents(call);
      if (call.count > 0) return void response.end(REST.replaceAll('\n', LINE_ENDS[end as 'LF']));
      for (let at = 0; at < bytes.length; at += size) {
        response.write(bytes.subarray(at, Math.min(at + size, bytes.length)));
        await turn();
      }
      response.end();
    });
    expect(await runtime.run(followAll, stub.url)).toEqual(EXPECTED);
    expect(stub.queries.map((query) => query.get('after_seq'))).toEqual(['0', '3']);
  });

  test.each(Object.values(SPLITS))('the same with bytes as they are, %d at a time', async (size) => {
    await using stub = await StubGateway.open(async (call) => {
      const response = startEvents(call, { 'content-type': EVENT_FRAMES_TYPE });
      if (call.count > 0) return void response.end('{"event":"closed","seq":4}\n');
      for (let at = 0; at < UNFINISHED_FRAMES.length; at += size) {
        response.write(UNFINISHED_FRAMES.subarray(at, Math.min(at + size, UNFINISHED_FRAMES.length)));
        await turn();
      }
      response.end();
    });
    expect(await runtime.run(followAll, stub.url)).toEqual(EXPECTED);
    expect(stub.queries.map((query) => query.get('after_seq'))).toEqual(['0', '3']);
  });

  test.each(['data: {"seq":1,', 'data: 1\n'])('B58 an event without end is given up: %j again and again', async (part) => {
    let sent = 0;
    let gone = Promise.resolve<unknown>(null);
    await using stub = await StubGateway.open(async (call) => {
      const response = startEvents(call);
      gone = once(response, 'close');
      const block = Buffer.from(part.repeat(65_536 / part.length));
      while (!response.destroyed) {
        sent += block.length;
        if (!response.write(block)) await room(response);
      }
    });
    expect(await runtime.run(followEndless, stub.url)).toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringContaining('8388608 bytes'),
    });
    await gone;
    expect(sent).toBeLessThan(128 * 1024 * 1024); // the bound, and what sockets hold on the way
  });
});
