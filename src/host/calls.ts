import type {
  CallOptions,
  ExecProcess,
  FollowQuery,
  ListQuery,
  ReadQuery,
  ScreenQuery,
  TerminateOptions,
  WatchQuery,
  WriteOptions,
} from '../protocol/exec-process.js';
import type { RunRequest, SignalRequest, Started, StartRequest, TtySize } from '../protocol/index.js';
import type { ProcessStats } from '../protocol/process-stats.js';
import type { SandboxPolicy } from '../protocol/sandbox.js';
import type { TranscriptQuery } from '../protocol/transcript.js';
import type { HostSettings } from './words.js';

/** What a host holds: processes, and what is known of all of them. */
export interface HostedMachine {
  process: ExecProcess;
  /** Starts a program that is kept to a policy. */
  startSandboxed(request: StartRequest, policy: SandboxPolicy): Promise<Started>;
  stats(): Promise<ProcessStats>;
  /** Lets settings hold from now on. */
  configure(settings: HostSettings): void;
  /** Refuses new work from now on. */
  drain(): void;
  /** Ends everything. */
  close(grace_ms: number): Promise<void>;
}

/** What a call brings besides its name. */
export interface CallFields {
  process_id: string;
  // biome-ignore lint/suspicious/noExplicitAny: each call knows its own.
  query: any;
}

type Answering = (machine: HostedMachine, fields: CallFields, options: CallOptions, bytes: Buffer) => Promise<unknown>;

/** The calls that are answered once, by name. */
export const CALLS: Record<string, Answering> = {
  start: ({ process }, { query }: { query: StartRequest }) => process.start(query),
  startOnce: ({ process }, { query }: { query: StartRequest }) => process.start(query, { once: true }),
  startSandboxed: (machine, { query }: { query: { request: StartRequest; policy: SandboxPolicy } }) =>
    machine.startSandboxed(query.request, query.policy),
  run: ({ process }, { query }: { query: RunRequest }, options) => process.run(query, options),
  list: ({ process }, { query }: { query: ListQuery }, options) => process.list(query, options),
  get: ({ process }, { process_id, query }, options) => process.get(process_id, query, options),
  read: ({ process }, { process_id, query }: CallFields & { query: ReadQuery }, options) => process.read(process_id, query, options),
  screen: ({ process }, { process_id, query }: CallFields & { query: ScreenQuery }, options) => process.screen(process_id, query, options),
  write: ({ process }, { process_id, query }: CallFields & { query: WriteOptions }, options, bytes) =>
    process.write(process_id, bytes, query, options),
  signal: ({ process }, { process_id, query }: CallFields & { query: SignalRequest }) => process.signal(process_id, query),
  resize: ({ process }, { process_id, query }: CallFields & { query: TtySize }) => process.resize(process_id, query),
  terminate: ({ process }, { process_id, query }: CallFields & { query: TerminateOptions }, options) =>
    process.terminate(process_id, query, options),
  stats: (machine) => machine.stats(),
};

type Streaming = (
  machine: HostedMachine,
  fields: CallFields,
  signal: AbortSignal,
) => Promise<{ head: object; batches: AsyncIterable<unknown[]> }>;

/** The calls that are answered with a stream, by name: with what is known when it begins, and then in batches. */
export const STREAMS: Record<string, Streaming> = {
  follow: async ({ process }, { process_id, query }: CallFields & { query: FollowQuery }, signal) => {
    const batches = await process.follow(process_id, query, { signal, lend: true });
    return { head: { ended: batches.ended, gap: batches.gap }, batches };
  },
  transcript: async ({ process }, { process_id, query }: CallFields & { query: TranscriptQuery }, signal) => {
    const { about, length, body } = await process.transcript(process_id, query, { signal });
    return { head: { about, length }, batches: asBatches(body) };
  },
  watch: async ({ process }, { query }: { query: WatchQuery }, signal) => ({ head: {}, batches: await process.watch(query, { signal }) }),
};

async function* asBatches(body: AsyncIterable<Uint8Array>): AsyncGenerator<{ chunk: Uint8Array }[], void> {
  for await (const chunk of body) yield [{ chunk }];
}
