import type { SignalRequest, Written } from '../protocol/control.js';
import { GatewayError } from '../protocol/error.js';
import type {
  CallOptions,
  ExecProcess,
  FollowQuery,
  GetQuery,
  ListQuery,
  ReadQuery,
  ScreenQuery,
  Started,
  StartOptions,
  Subscription,
  TerminateOptions,
  WatchQuery,
  WriteOptions,
} from '../protocol/exec-process.js';
import type { ChangeEvent, Gap, ProcessEvent, ReadOutput, ReadResult } from '../protocol/output.js';
import type { ProcessInfo, ProcessList, Terminated } from '../protocol/process.js';
import type { RunOutput, RunRequest, RunResult } from '../protocol/run.js';
import type { Screen, ScreenOutput } from '../protocol/screen.js';
import type { StartRequest, TtySize } from '../protocol/start.js';
import type { TranscriptContent, TranscriptQuery } from '../protocol/transcript.js';
import { decodeBytes, decodeChunk, fromWire } from './decode-event.js';
import { FollowSource, PROCESS_EVENT_FORMS } from './follow-source.js';
import { LastingStream } from './lasting-stream.js';
import { DOTS, pathOf } from './process-path.js';
import { remoteTranscript } from './remote-transcript.js';
import { type RetryOptions, retrySettings } from './retry.js';
import { CHANGE_FORMS, WatchSource } from './watch-source.js';
import { Wire, type WireOptions } from './wire.js';

/** Where the gateway is, and how patient to be with it. */
export interface RemoteOptions extends WireOptions {
  /** How `follow` and `watch` take up a dropped connection. */
  retry?: RetryOptions | undefined;
}

/**
 * Processes behind a gateway, over `fetch` alone. Calls reject with the `GatewayError` that the gateway threw, or with
 * `upstream_unreachable` when it was not reached. `follow` and `watch` outlive their connections.
 */
export class RemoteExecProcess implements ExecProcess {
  readonly #wire: Wire;
  readonly #retry: Required<RetryOptions>;

  /** @throws {GatewayError} `invalid_argument` for an address that cannot be called */
  constructor(options: RemoteOptions) {
    this.#wire = new Wire(options);
    this.#retry = retrySettings(options.retry);
  }

  async start(request: StartRequest, { once = false, signal }: StartOptions = {}): Promise<Started> {
    if (!once)
      return {
        created: true,
        process: await this.#json<ProcessInfo>('/processes', { method: 'POST', body: request, answer: 'process_id', signal }),
      };
    const { process_id, ...body } = request;
    if (process_id === undefined || DOTS.test(process_id)) {
      throw new GatewayError('invalid_request', 'process_id is missing: a start once is known again by it.', { field: 'process_id' });
    }
    const { status, value } = await this.#wire.json<ProcessInfo>({
      method: 'PUT',
      path: pathOf(process_id),
      body,
      answer: 'process_id',
      signal,
    });
    return { created: status === 201, process: value };
  }

  async run(request: RunRequest, { signal }: CallOptions = {}): Promise<RunOutput> {
    const result = await this.#json<RunResult>('/run', {
      method: 'POST',
      body: { ...request, encoding: 'base64' },
      answer: 'process_id',
      signal,
    });
    return fromWire('The answer to a run', () => ({ ...result, stdout: decodeBytes(result.stdout), stderr: decodeBytes(result.stderr) }));
  }

  list(query: ListQuery = {}, { signal }: CallOptions = {}): Promise<ProcessList> {
    return this.#json('/processes', { query: { ...query }, answer: 'processes', signal });
  }

  async get(process_id: string, query: GetQuery = {}, { signal }: CallOptions = {}): Promise<ProcessInfo> {
    return this.#json(pathOf(process_id), { query: { ...query }, answer: 'process_id', signal });
  }

  async read(process_id: string, query: ReadQuery = {}, { signal }: CallOptions = {}): Promise<ReadOutput> {
    const result = await this.#json<ReadResult>(pathOf(process_id, '/output'), { query: { ...query }, answer: 'chunks', signal });
    return fromWire('The answer to a read', () => ({ ...result, chunks: result.chunks.map(decodeChunk) }));
  }

  async screen(process_id: string, query: ScreenQuery = {}, { signal }: CallOptions = {}): Promise<ScreenOutput> {
    const screen = await this.#json<Screen>(pathOf(process_id, '/screen'), { query: { ...query }, answer: 'text', signal });
    return fromWire('The answer to a screen', () => ({ ...screen, paint: screen.paint === null ? null : decodeBytes(screen.paint) }));
  }

  async transcript(process_id: string, query: TranscriptQuery = {}, { signal }: CallOptions = {}): Promise<TranscriptContent> {
    return remoteTranscript(this.#wire, pathOf(process_id, '/transcript'), query, signal);
  }

  async follow(process_id: string, query: FollowQuery = {}, { signal }: CallOptions = {}): Promise<Subscription<ProcessEvent>> {
    const path = pathOf(process_id, '/events');
    const open = (after_seq: number, signal: AbortSignal) =>
      this.#wire.events({ path, query: { ...query, after_seq }, signal }, PROCESS_EVENT_FORMS);
    const stream = await LastingStream.open(new FollowSource(open, query), this.#retry, signal);
    return Object.assign(stream, { ended: stream.headers === null, gap: gapOf(stream.headers) });
  }

  watch({ after_id, ...query }: WatchQuery = {}, { signal }: CallOptions = {}): Promise<AsyncIterable<ChangeEvent[]>> {
    const open = (last_event_id: number | undefined, signal: AbortSignal) =>
      this.#wire.events({ path: '/events', query: { ...query }, last_event_id, signal }, CHANGE_FORMS);
    return LastingStream.open(new WatchSource(open, after_id), this.#retry, signal);
  }

  async write(process_id: string, bytes: Uint8Array, query: WriteOptions = {}, { signal }: CallOptions = {}): Promise<Written> {
    return this.#json(pathOf(process_id, '/stdin'), { method: 'POST', query: { ...query }, body: bytes, answer: 'accepted_bytes', signal });
  }

  async signal(process_id: string, request: SignalRequest, { signal }: CallOptions = {}): Promise<void> {
    return this.#wire.empty({ method: 'POST', path: pathOf(process_id, '/signal'), body: request, signal });
  }

  async resize(process_id: string, size: TtySize, { signal }: CallOptions = {}): Promise<void> {
    return this.#wire.empty({ method: 'POST', path: pathOf(process_id, '/resize'), body: size, signal });
  }

  async terminate(process_id: string, query: TerminateOptions = {}, { signal }: CallOptions = {}): Promise<Terminated> {
    return this.#json(pathOf(process_id), { method: 'DELETE', query: { ...query }, answer: 'running', signal });
  }

  async #json<T>(path: string, request: Omit<Parameters<Wire['json']>[0], 'path'>): Promise<T> {
    return (await this.#wire.json<T>({ path, ...request })).value;
  }
}

function gapOf(headers: Headers | null): Gap | null {
  try {
    return JSON.parse(headers?.get('exec-gap') ?? 'null');
  } catch {
    return null; // it is the first event all the same
  }
}
