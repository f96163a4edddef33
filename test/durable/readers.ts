import { createParser } from 'eventsource-parser';
import { WebSocket } from 'ws';
import { decodeEvent, PROCESS_EVENTS } from '../../src/client/decode-event.js';
import { attach } from '../../src/client/index.js';
import { persist } from '../../src/client/persist.js';
import { Backoff, retrySettings } from '../../src/client/retry.js';
import { type Gap, GatewayError, type ProcessEvent } from '../../src/protocol/index.js';
import { spawnCli } from '../cli/spawn-cli.js';
import { type HostedGateway, RETRY } from './hosted-gateway.js';

/** How calls to a gateway that is killed now and then are made, which may arrive twice. */
export const patience = { retry: retrySettings(RETRY) };

/** Longest wait of one long-poll, in milliseconds. */
const WAIT_MS = 20_000;

/** What a reader found of a process, from its first byte to its last. */
export interface Found {
  /** Each byte is a character. */
  text: string;
  gaps: Gap[];
  /** Null where it is not told. */
  exit_code: number | null;
}

/** Reads a process to its end, whatever becomes of the gateway; `news` is called with what is new, each time. */
type Reader = (gateway: HostedGateway, process_id: string, news: (text: string) => void) => Promise<Found>;

/** Every way to read a process, by name. */
export const READERS = { poll, sse, attached, logs } satisfies Record<string, Reader>;
export type Kind = keyof typeof READERS;

async function poll(gateway: HostedGateway, process_id: string, news: (text: string) => void): Promise<Found> {
  const processes = gateway.processes();
  const found: Found = { text: '', gaps: [], exit_code: null };
  for (let after_seq = 0; ; ) {
    const query = { after_seq, wait_ms: WAIT_MS };
    const output = await persist((signal) => processes.read(process_id, query, { signal }), { ...patience, wait_ms: WAIT_MS });
    const text = textOf(output.chunks);
    found.text += text;
    if (output.gap) found.gaps.push(output.gap);
    if (output.exited) found.exit_code = output.exit_code;
    after_seq = output.next_seq - 1;
    news(text);
    if (output.closed) return found;
  }
}

async function attached(gateway: HostedGateway, process_id: string, news: (text: string) => void): Promise<Found> {
  const { url } = gateway.server;
  const events = new Events(news);
  for await (const batch of await attach({ url, token: gateway.token, WebSocket, retry: RETRY, process_id })) events.take(batch);
  return events.found();
}

/** As browsers do it: each connection says which event was the last one. */
async function sse(gateway: HostedGateway, process_id: string, news: (text: string) => void): Promise<Found> {
  const events = new Events(news);
  let backoff = new Backoff(patience.retry);
  while (!events.closed) {
    const before = events.last_id;
    try {
      await connection(`${gateway.server.url}/processes/${process_id}/events`, gateway.token, events);
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      if (events.last_id !== before) backoff = new Backoff(patience.retry);
      await backoff.pause(new GatewayError('upstream_unreachable', 'The stream broke off.', {}, { cause }));
    }
  }
  return events.found();
}

/** Throws a `TypeError`, as fetch does, when there is none, or it breaks off. */
async function connection(url: string, token: string, events: Events): Promise<void> {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}`, 'last-event-id': events.last_id };
  const response = await fetch(url, { headers });
  if (response.status !== 200) throw new TypeError(`${response.status} ${await response.text()}`);
  const parser = createParser({
    onEvent: (message) => {
      const event = decodeEvent<ProcessEvent>(message, PROCESS_EVENTS);
      if (event === null) return;
      events.last_id = message.id as string;
      events.take([event]);
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) parser.feed(decoder.decode(bytes, { stream: true }));
}

async function logs(gateway: HostedGateway, process_id: string, news: (text: string) => void): Promise<Found> {
  const env = { EXEC_GATEWAY_URL: gateway.server.url, EXEC_GATEWAY_TOKEN: gateway.token };
  const { child, ended } = spawnCli(['logs', '-f', process_id], { env });
  child.stdout.on('data', (bytes: Buffer) => news(bytes.toString('latin1')));
  const { code, stdout, stderr } = await ended;
  if (code !== 0) throw new Error(`logs -f ended with ${code}: ${stderr}`);
  return { text: stdout.toString('latin1'), gaps: [], exit_code: null };
}

/** What comes as events, each of which has to be the next one. */
class Events {
  readonly #news: (text: string) => void;
  readonly #found: Found = { text: '', gaps: [], exit_code: null };
  #seq = 0;
  closed = false;
  last_id = '0';

  constructor(news: (text: string) => void) {
    this.#news = news;
  }

  take(batch: ProcessEvent[]): void {
    for (const event of batch) this.#take(event);
    this.#news(textOf(batch));
  }

  found(): Found {
    if (!this.closed) throw new Error('The events ended before closed.');
    return this.#found;
  }

  #take(event: ProcessEvent): void {
    const [first, last] = event.event === 'gap' ? [event.from_seq, event.to_seq] : [event.seq, event.seq];
    if (this.closed || first !== this.#seq + 1) throw new Error(`Event ${first} came after ${this.#seq}.`);
    this.#seq = last;
    if (event.event === 'output') this.#found.text += textOf([event]);
    else if (event.event === 'gap') this.#found.gaps.push(event);
    else if (event.event === 'exited') this.#found.exit_code = event.exit_code;
    else this.closed = true;
  }
}

function textOf(events: (ProcessEvent | { chunk: Uint8Array })[]): string {
  return events.map((event) => ('chunk' in event ? Buffer.from(event.chunk).toString('latin1') : '')).join('');
}
