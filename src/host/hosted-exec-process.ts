import type {
  CallOptions,
  ExecProcess,
  FollowOptions,
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
import type {
  ChangeEvent,
  Gap,
  ProcessEvent,
  ProcessInfo,
  ProcessList,
  ReadOutput,
  RunOutput,
  RunRequest,
  SignalRequest,
  StartRequest,
  Terminated,
  TranscriptContent,
  TranscriptQuery,
  TtySize,
  Written,
} from '../protocol/index.js';
import type { ProcessStats } from '../protocol/process-stats.js';
import type { SandboxPolicy } from '../protocol/sandbox.js';
import type { ScreenOutput } from '../protocol/screen.js';
import type { HostLink } from './host-link.js';

/** Processes in the host beside this program. */
export class HostedExecProcess implements ExecProcess {
  readonly #link: HostLink;

  constructor(link: HostLink) {
    this.#link = link;
  }

  start(request: StartRequest, { once = false }: StartOptions = {}): Promise<Started> {
    return this.#link.call({ call: once ? 'startOnce' : 'start', query: request });
  }

  /** Starts a program that is kept to a policy. */
  startSandboxed(request: StartRequest, policy: SandboxPolicy): Promise<Started> {
    return this.#link.call({ call: 'startSandboxed', query: { request, policy } });
  }

  run(request: RunRequest, { signal }: CallOptions = {}): Promise<RunOutput> {
    return this.#link.call({ call: 'run', query: request, signal });
  }

  list(query: ListQuery = {}, { signal }: CallOptions = {}): Promise<ProcessList> {
    return this.#link.call({ call: 'list', query, signal });
  }

  get(process_id: string, query: GetQuery = {}, { signal }: CallOptions = {}): Promise<ProcessInfo> {
    return this.#link.call({ call: 'get', process_id, query, signal });
  }

  read(process_id: string, query: ReadQuery = {}, { signal }: CallOptions = {}): Promise<ReadOutput> {
    return this.#link.call({ call: 'read', process_id, query, signal });
  }

  screen(process_id: string, query: ScreenQuery = {}, { signal }: CallOptions = {}): Promise<ScreenOutput> {
    return this.#link.call({ call: 'screen', process_id, query, signal });
  }

  async transcript(process_id: string, query: TranscriptQuery = {}, { signal }: CallOptions = {}): Promise<TranscriptContent> {
    const call = { call: 'transcript', process_id, query, signal };
    const { head, batches } = await this.#link.stream<Omit<TranscriptContent, 'body' | 'close'>, { chunk: Uint8Array }>(call);
    return { ...head, body: bytesOf(batches), close: async () => void (await batches.return()) };
  }

  async follow(process_id: string, query: FollowQuery = {}, { lend, signal }: FollowOptions = {}): Promise<Subscription<ProcessEvent>> {
    const call = { call: 'follow', process_id, query, lend, signal };
    const { head, batches } = await this.#link.stream<{ ended: boolean; gap: Gap | null }, ProcessEvent>(call);
    return Object.assign(batches, head);
  }

  async watch(query: WatchQuery = {}, { signal }: CallOptions = {}): Promise<AsyncIterable<ChangeEvent[]>> {
    return (await this.#link.stream<object, ChangeEvent>({ call: 'watch', query, signal })).batches;
  }

  write(process_id: string, bytes: Uint8Array, query: WriteOptions = {}, { signal }: CallOptions = {}): Promise<Written> {
    return this.#link.call({ call: 'write', process_id, query, bytes, signal });
  }

  async signal(process_id: string, request: SignalRequest): Promise<void> {
    await this.#link.call({ call: 'signal', process_id, query: request });
  }

  async resize(process_id: string, size: TtySize): Promise<void> {
    await this.#link.call({ call: 'resize', process_id, query: size });
  }

  terminate(process_id: string, query: TerminateOptions = {}, { signal }: CallOptions = {}): Promise<Terminated> {
    return this.#link.call({ call: 'terminate', process_id, query, signal });
  }

  stats(): Promise<ProcessStats> {
    return this.#link.call({ call: 'stats' });
  }
}

async function* bytesOf(batches: AsyncIterable<{ chunk: Uint8Array }[]>): AsyncGenerator<Uint8Array, void> {
  for await (const batch of batches) for (const { chunk } of batch) yield chunk;
}
