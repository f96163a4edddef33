import { checkCreatedAt } from '../protocol/check-created-at.js';
import {
  type CallOptions,
  DEFAULT_GRACE_MS,
  DEFAULT_PAGE,
  DEFAULT_READ_BYTES,
  DEFAULT_STDIN_WAIT_MS,
  type ExecProcess,
  type FollowOptions,
  type FollowQuery,
  GatewayError,
  type GetQuery,
  type ListQuery,
  MAX_PAGE,
  MAX_READ_BYTES,
  MAX_WAIT_MS,
  type ProcessInfo,
  type ReadOutput,
  type ReadQuery,
  type RunRequest,
  type ScreenQuery,
  type SignalRequest,
  type StartOptions,
  type StartRequest,
  type TerminateOptions,
  type TranscriptQuery,
  type TtySize,
  type WatchQuery,
  type WriteOptions,
} from '../protocol/index.js';
import type { Leave } from '../protocol/leave.js';
import { quoted } from '../protocol/quoted.js';
import type { HostedProcess } from './hosted-process.js';
import { labelMatch } from './labels.js';
import { readOutput } from './output-read.js';
import type { ProcessHandler } from './process-handler.js';
import { transcriptOf } from './process-transcript.js';
import { withUsage } from './process-usage.js';
import { runProcess } from './run-process.js';
import { waitForScreen } from './wait-for-screen.js';
import { waitUntil } from './wait-until.js';
import { WatchCursor } from './watch-cursor.js';

/** Long command lines make a page end before its `limit`, at this size in bytes. */
const PAGE_BYTES = 8 * 1024 * 1024;

/** Processes on this machine. */
export class LocalExecProcess implements ExecProcess {
  readonly #handler: ProcessHandler;
  readonly #stopping = () => this.#handler.stopping;

  constructor(handler: ProcessHandler) {
    this.#handler = handler;
  }

  async start(request: StartRequest, { once = false }: StartOptions = {}) {
    const { created, process } = await this.#handler.start(request, { once });
    return { created, process: process.info() };
  }

  async run(request: RunRequest, { signal }: CallOptions = {}) {
    return runProcess(this.#handler, request, signal);
  }

  async list({ state, label, limit = DEFAULT_PAGE, cursor, usage = false }: ListQuery = {}) {
    const matches = labelMatch(label);
    const after = cursor === undefined ? 0 : readCursor(cursor);
    const page: HostedProcess[] = [];
    let bytes = 0;
    let more = false;
    for (const process of this.#handler.processes) {
      if (process.index <= after || !matches(process.request.labels) || (state && process.state !== state)) continue;
      more = page.length > 0 && (page.length >= Math.min(limit, MAX_PAGE) || bytes > PAGE_BYTES);
      if (more) break;
      page.push(process);
      bytes += process.request_bytes;
    }
    const shown = page.map((process) => process.info());
    return { processes: usage ? await withUsage(shown) : shown, next_cursor: more ? String(page.at(-1)?.index) : null };
  }

  async get(process_id: string, { wait_ms = 0, usage = false }: GetQuery = {}, options: CallOptions = {}) {
    const process = this.#handler.get(process_id);
    await this.#wait(process, () => process.log.exited !== null, wait_ms, options.leave ?? options.signal);
    return usage ? ((await withUsage([process.info()]))[0] as ProcessInfo) : process.info();
  }

  async read(process_id: string, query: ReadQuery = {}, options: CallOptions = {}): Promise<ReadOutput> {
    const { after_seq = 0, wait_ms = 0, max_bytes = DEFAULT_READ_BYTES, stream } = query;
    const process = this.#handler.get(process_id);
    process.checkCursor(after_seq);
    process.expectNoFollower();
    return readOutput(process.log, {
      after_seq,
      max_bytes: Math.min(max_bytes, MAX_READ_BYTES),
      stream,
      until: performance.now() + Math.min(wait_ms, MAX_WAIT_MS),
      stopping: this.#stopping,
      leave: options.leave ?? options.signal,
    });
  }

  async screen(process_id: string, query: ScreenQuery = {}, { signal }: CallOptions = {}) {
    const process = this.#handler.get(process_id);
    this.#handler.screens.check(process);
    await waitForScreen(process, query, () => this.#handler.stopping, signal);
    return this.#handler.screens.look(process, query.paint === true, signal);
  }

  async transcript(process_id: string, query: TranscriptQuery = {}, options: CallOptions = {}) {
    return transcriptOf(this.#handler.get(process_id), query, options);
  }

  async follow(process_id: string, query: FollowQuery = {}, options: FollowOptions = {}) {
    return this.#handler.get(process_id).follow(query, options);
  }

  async watch(query: WatchQuery = {}, { signal }: CallOptions = {}) {
    return new WatchCursor(this.#handler, query, signal);
  }

  async write(process_id: string, bytes: Uint8Array, query: WriteOptions = {}, options: CallOptions = {}) {
    const wait_ms = Math.min(query.wait_ms ?? DEFAULT_STDIN_WAIT_MS, MAX_WAIT_MS);
    const process = this.#handler.get(process_id);
    if (query.created_at !== undefined) checkCreatedAt(process_id, process.created_at.toISOString(), query.created_at);
    const accepted_bytes = await process.stdin.write(bytes, { ...query, wait_ms }, options);
    return { accepted: true as const, accepted_bytes };
  }

  async signal(process_id: string, request: SignalRequest): Promise<void> {
    this.#handler.get(process_id).signal(request);
  }

  async resize(process_id: string, size: TtySize): Promise<void> {
    this.#handler.get(process_id).resize(size);
  }

  async terminate(process_id: string, query: TerminateOptions = {}, { signal }: CallOptions = {}) {
    const { grace_ms = DEFAULT_GRACE_MS, wait_ms = 0, purge = false } = query;
    const process = this.#handler.get(process_id);
    const running = process.terminate(grace_ms);
    if (purge) await this.#handler.purge(process);
    await this.#wait(process, () => process.log.closed_seq !== null, wait_ms, signal);
    return { running };
  }

  #wait(process: HostedProcess, ready: () => boolean, wait_ms: number, leave?: Leave): Promise<boolean> {
    return waitUntil(process.log.waiters, () => ready() || this.#handler.stopping, Math.min(wait_ms, MAX_WAIT_MS), leave);
  }
}

function readCursor(cursor: string): number {
  if (/^[1-9][0-9]{0,15}$/.test(cursor)) return Number(cursor);
  throw new GatewayError('invalid_cursor', `cursor ${quoted(cursor)} is not one that a list gave: leave it out to start over.`, {
    field: 'cursor',
  });
}
