import type { SignalScope, Written } from '../protocol/control.js';
import type {
  CallOptions,
  ExecProcess,
  FollowQuery,
  GetQuery,
  ListQuery,
  ReadQuery,
  ScreenQuery,
  TerminateOptions,
  WatchQuery,
  WriteOptions,
} from '../protocol/exec-process.js';
import type { ChangeEvent, ProcessEvent, ReadOutput } from '../protocol/output.js';
import type { ProcessInfo, ProcessList, Terminated } from '../protocol/process.js';
import type { RunOutput, RunRequest, RunResult } from '../protocol/run.js';
import type { ScreenOutput } from '../protocol/screen.js';
import type { StartRequest, TtySize } from '../protocol/start.js';
import type { Ticket, TicketRequest } from '../protocol/ticket.js';
import type { TranscriptQuery } from '../protocol/transcript.js';
import { type Attached, attach } from './attach.js';
import type { GatewayAttachOptions } from './attach-options.js';
import { Files } from './files.js';
import { bytesOf, type Input } from './input-bytes.js';
import { persist, startRetry } from './persist.js';
import { newProcessId } from './process-id.js';
import { RemoteExecProcess, type RemoteOptions } from './remote-exec-process.js';
import { RemoteFileSystem } from './remote-file-system.js';
import { type RetryOptions, retrySettings } from './retry.js';
import { exitOf, ROUND_MS, runToEnd } from './run-to-end.js';
import { transcriptBytes } from './transcript-bytes.js';
import { Wire } from './wire.js';

export interface StartProcessOptions extends Omit<StartRequest, 'argv'>, CallOptions {}

export interface RunProcessOptions extends Omit<RunRequest, 'argv' | 'wait_ms' | 'encoding'>, CallOptions {
  /** How `stdout` and `stderr` are given: text, where what is not UTF-8 is replaced, or bytes. Default utf8. */
  encoding?: 'utf8' | 'bytes';
}

/**
 * A gateway, as one likes to use it. Every call takes `signal` to give it up, then rejects with the signal's reason;
 * a process goes on all the same. All else rejects with a `GatewayError`; see its `code`.
 */
export class Gateway {
  /** The same gateway call by call, without retries. */
  readonly processes: ExecProcess;
  readonly files: Files;
  readonly #options: RemoteOptions;
  readonly #wire: Wire;
  readonly #retry: Required<RetryOptions>;

  /** @throws {GatewayError} `invalid_argument` for an address that cannot be called */
  constructor(options: RemoteOptions) {
    this.#options = options;
    this.#wire = new Wire(options);
    this.processes = new RemoteExecProcess(options);
    this.#retry = retrySettings(options.retry);
    this.files = new Files(new RemoteFileSystem(options), this.#retry);
  }

  /**
   * Runs a program to its end, however long that takes; end it by `timeout_ms`. Of each stream the first `max_bytes`
   * (default 1 MiB) are kept. A connection that drops is taken up again and never runs it twice.
   */
  run(argv: string[], options: RunProcessOptions & { encoding: 'bytes' }): Promise<RunOutput>;
  run(argv: string[], options?: RunProcessOptions & { encoding?: 'utf8' }): Promise<RunResult>;
  async run(argv: string[], { signal, encoding = 'utf8', ...request }: RunProcessOptions = {}): Promise<RunOutput | RunResult> {
    const output = await runToEnd(this.processes, { process_id: newProcessId(), ...request, argv }, this.#retry, { signal });
    if (encoding === 'bytes') return output;
    return { ...output, stdout: text(output.stdout), stderr: text(output.stderr) };
  }

  /** Starts a program, once: repeated with the same `process_id` and the same options it answers with the same process. */
  async start(argv: string[], { signal, ...request }: StartProcessOptions = {}): Promise<ProcessInfo> {
    const once = { process_id: newProcessId(), ...request, argv };
    const start = (signal: AbortSignal) => this.processes.start(once, { once: true, signal });
    return (await persist(start, { retry: startRetry(this.#retry), signal })).process;
  }

  /** The process as it is now, or after `wait_ms` at most when it has not exited yet; with `usage` also what it uses. */
  get(process_id: string, { signal, ...query }: GetQuery & CallOptions = {}): Promise<ProcessInfo> {
    return this.processes.get(process_id, query, { signal });
  }

  /** Waits until the program has exited, however long that takes. */
  wait(process_id: string, { signal }: CallOptions = {}): Promise<ProcessInfo> {
    return exitOf(this.processes, process_id, { retry: this.#retry, wait_ms: ROUND_MS, signal });
  }

  /** One page of processes, oldest first. */
  list({ signal, ...query }: ListQuery & CallOptions = {}): Promise<ProcessList> {
    return this.processes.list(query, { signal });
  }

  /** All processes that match, oldest first, page by page. */
  async *all({ signal, ...query }: Omit<ListQuery, 'cursor'> & CallOptions = {}): AsyncGenerator<ProcessInfo, void> {
    let cursor: string | undefined;
    do {
      const page = await this.processes.list({ ...query, cursor }, { signal });
      yield* page.processes;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Output after `after_seq`, waiting up to `wait_ms` for some. Continue with `after_seq = next_seq - 1`. */
  read(process_id: string, { signal, ...query }: ReadQuery & CallOptions = {}): Promise<ReadOutput> {
    return this.processes.read(process_id, query, { signal });
  }

  /** What the terminal of a process shows: as text, and with `paint` as bytes for another terminal. */
  screen(process_id: string, { signal, ...query }: ScreenQuery & CallOptions = {}): Promise<ScreenOutput> {
    return this.processes.screen(process_id, query, { signal });
  }

  /**
   * All output that is kept of a process, as there is at this moment: bytes, or with `format: 'asciicast'` a recording of its
   * terminal. A dropped connection is taken up again where it broke; a recording, which has no parts, is not once it has begun. What
   * is missing is told by `processes.transcript`.
   */
  transcript(
    process_id: string,
    { signal, offset, length, if_match, ...query }: TranscriptQuery & CallOptions = {},
  ): AsyncGenerator<Uint8Array, void> {
    return transcriptBytes(this.processes, process_id, query, { offset, length, if_match, signal }, this.#retry);
  }

  /** The events of a process up to `closed`, over as many connections as it takes: none is missing, none comes twice. */
  async *follow(process_id: string, { signal, ...query }: FollowQuery & CallOptions = {}): AsyncGenerator<ProcessEvent, void> {
    for await (const batch of await this.processes.follow(process_id, query, { signal })) yield* batch;
    signal?.throwIfAborted();
  }

  /** All processes in a snapshot, then their changes. After a dropped connection another snapshot comes. */
  async *watch({ signal, ...query }: WatchQuery & CallOptions = {}): AsyncGenerator<ChangeEvent, void> {
    for await (const batch of await this.processes.watch(query, { signal })) yield* batch;
    signal?.throwIfAborted();
  }

  /**
   * Attaches to a process by WebSocket, as the function `attach` does: resolves with the first connection, and takes up one that
   * drops later. Patient as the gateway is, unless `retry` says otherwise.
   */
  attach(process_id: string, options: GatewayAttachOptions = {}): Promise<Attached> {
    return attach({ ...this.#options, ...options, process_id, retry: options.retry ?? this.#options.retry });
  }

  /** Feeds stdin. With `offset` a repeated write is taken once. Rejects with `invalid_argument` for what is neither text nor bytes. */
  async write(process_id: string, input: Input, { signal, ...query }: WriteOptions & CallOptions = {}): Promise<Written> {
    return this.processes.write(process_id, bytesOf(input), query, { signal });
  }

  /** Sends a signal, such as SIGINT, to the process group unless `scope` says otherwise. */
  signal(process_id: string, name: string, { signal, ...rest }: { scope?: SignalScope } & CallOptions = {}): Promise<void> {
    return this.processes.signal(process_id, { signal: name, ...rest }, { signal });
  }

  /** Gives the terminal another size, in character cells. */
  resize(process_id: string, size: TtySize, options: CallOptions = {}): Promise<void> {
    return this.processes.resize(process_id, size, options);
  }

  /** Ends the process group: politely, then after `grace_ms` by force. */
  terminate(process_id: string, { signal, ...query }: TerminateOptions & CallOptions = {}): Promise<Terminated> {
    return this.processes.terminate(process_id, query, { signal });
  }

  /** A short-lived key to one process for what a browser opens without headers: `…/processes/ID/events?ticket=TICKET`. */
  async ticket(process_id: string, { signal, ...request }: Omit<TicketRequest, 'process_id'> & CallOptions = {}): Promise<Ticket> {
    return (await this.#wire.json<Ticket>({ method: 'POST', path: '/tickets', body: { process_id, ...request }, answer: 'ticket', signal }))
      .value;
  }
}

/** Everything is kept, a byte order mark too. */
const text = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
