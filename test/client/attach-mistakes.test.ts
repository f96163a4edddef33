import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type AttachOptions, attach, Gateway, GatewayError } from '../../src/client/index.js';
import type { ProcessEvent } from '../../src/protocol/index.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { errorOf } from '../support/told.js';
import { useGateway } from '../wire/use-gateway.js';

const gateway = useGateway({ flags: ['--allow-host', '127.0.0.1'] });
const RETRY = { first_delay_ms: 5, max_delay_ms: 20 };

const token = () => gateway.server.token ?? undefined;
const client = () => new Gateway({ url: gateway.server.url, token: token(), retry: RETRY });
const to = (process_id: string, rest: Partial<AttachOptions> = {}) =>
  attach({ url: gateway.server.url, process_id, WebSocket, retry: RETRY, ...rest });

/** Tickets, but for those calls of which `fails` says with what they fail. */
function tickets(process_id: string, fails: (count: number) => unknown) {
  const made = { count: 0 };
  const ticket = async () => {
    const failure = fails(made.count++);
    if (failure) throw failure;
    return (await client().ticket(process_id, { scope: 'write' })).ticket;
  };
  return Object.assign(made, { ticket });
}

async function text(attached: AsyncIterable<ProcessEvent[]>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const batch of attached) for (const event of batch) if (event.event === 'output') chunks.push(event.chunk);
  return Buffer.concat(chunks).toString();
}

const seqs = () => gateway.start(['sh', '-c', 'read x; seq 1 20000'], { pipe_stdin: true });
const SEQ = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join('');
const BROKEN = new TypeError('Failed to fetch');
const cutOnce = () => CuttingProxy.open(gateway.server.url, (count) => (count === 0 ? 20_000 : null));

describe('a ticket that is not to be had', () => {
  test('is asked for again when the line broke, and the change of the line is told once', async () => {
    await using proxy = await cutOnce();
    const { process_id } = await seqs();
    const made = tickets(process_id, (count) => count > 0 && count < 4 && BROKEN);
    const lines: unknown[] = [];
    const attached = await to(process_id, { url: proxy.url, ticket: made.ticket, on_line: (lost) => lines.push(lost?.code ?? null) });
    await attached.write('\n');
    expect(await text(attached)).toBe(SEQ);
    expect(made.count).toBe(5);
    expect(lines).toEqual(['upstream_unreachable', null]);
  });

  test('is given up with a typed error that has the cause, which is no second change of the line', async () => {
    await using proxy = await cutOnce();
    const { process_id } = await seqs();
    const made = tickets(process_id, (count) => count > 0 && BROKEN);
    const lines: unknown[] = [];
    const retry = { ...RETRY, give_up_ms: 200 };
    const attached = await to(process_id, { url: proxy.url, ticket: made.ticket, retry, on_line: (lost) => lines.push(lost) });
    attached.write('\n').catch(() => {}); // its receipt may be lost with the line
    const error = await errorOf(text(attached));
    expect(error).toMatchObject({ code: 'upstream_unreachable', cause: BROKEN });
    expect(error.message).toContain('Failed to fetch');
    expect(made.count).toBeGreaterThan(2);
    expect(lines).toHaveLength(1);
  });

  test('is asked for again before the first connection too, unless the refusal is final', async () => {
    const { process_id } = await gateway.start(['echo', 'hi']);
    const later = tickets(process_id, (count) => count < 2 && BROKEN);
    expect(await text(await to(process_id, { ticket: later.ticket }))).toBe('hi\n');
    expect(later.count).toBe(3);
    const refused = new GatewayError('unauthorized', 'Log in.');
    const never = tickets(process_id, () => refused);
    expect(await errorOf(to(process_id, { ticket: never.ticket }))).toBe(refused);
    expect(never.count).toBe(1);
    const broken = tickets(process_id, () => BROKEN);
    const error = await errorOf(to(process_id, { ticket: broken.ticket, retry: { ...RETRY, give_up_ms: 50 } }));
    expect(error).toMatchObject({ code: 'upstream_unreachable', cause: BROKEN });
  });

  test('is not waited for when all is given up meanwhile', async () => {
    const reason = new Error('given up');
    const given_up = new AbortController();
    const ticket = () => {
      given_up.abort(reason);
      return Promise.reject(BROKEN);
    };
    await expect(to('any', { ticket, signal: given_up.signal })).rejects.toBe(reason);
  });
});

describe('input', () => {
  const bytes = Uint8Array.from(Buffer.from('hello'));
  const forms: [string, ArrayBuffer | ArrayBufferView][] = [
    ['an ArrayBuffer', bytes.buffer],
    ['an ArrayBuffer of another context', runInContext('Uint8Array.from([104, 101, 108, 108, 111]).buffer', createContext())],
    ['a view of a part', new DataView(Uint8Array.from(Buffer.from('a hello to all')).buffer, 2, 5)],
    ['another array of numbers', new Int8Array(bytes.buffer)],
  ];

  test.each(forms)('may be %s, attached or not', async (_name, input) => {
    const { process_id } = await gateway.start(['head', '-c', '10'], { pipe_stdin: true });
    const attached = await to(process_id, { token: token() });
    await attached.write(input);
    await client().write(process_id, input);
    expect(await text(attached)).toBe('hellohello');
  });

  test.each([5, null, undefined, {}, ['a'], true])('that is neither text nor bytes is refused at once: %s', async (input) => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    const attached = await to(process_id, { token: token() });
    for (const writer of [(given: never) => attached.write(given), (given: never) => client().write(process_id, given)]) {
      expect(await errorOf(writer(input as never))).toMatchObject({ code: 'invalid_argument', fields: { field: 'input' } });
    }
    attached.detach();
    expect((await client().get(process_id)).stdin.accepted_bytes).toBe(0);
  });
});

describe('what it cannot begin with', () => {
  test.each([undefined, null, 5])('a process_id that is %s', async (process_id) => {
    const expected = { code: 'invalid_argument', fields: { field: 'process_id' } };
    expect(await errorOf(to(process_id as never, { token: token() }))).toMatchObject(expected);
    expect(await errorOf(client().get(process_id as never))).toMatchObject(expected);
  });

  test('no class of WebSockets', async () => {
    const own = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket');
    Reflect.deleteProperty(globalThis, 'WebSocket');
    try {
      const error = await errorOf(to('any', { WebSocket: undefined }));
      expect(error).toMatchObject({ code: 'invalid_argument', fields: { field: 'WebSocket' } });
    } finally {
      if (own) Object.defineProperty(globalThis, 'WebSocket', own);
    }
  });
});

describe('gateway.attach', () => {
  test('attaches where the gateway is', async () => {
    const { process_id } = await gateway.start(['head', '-n', '1'], { pipe_stdin: true });
    const attached = await client().attach(process_id, { WebSocket });
    await attached.write('hi\n');
    expect(await text(attached)).toBe('hi\n');
    expect(await errorOf(client().attach('none', { WebSocket }))).toMatchObject({ code: 'process_not_found' });
  });
});
