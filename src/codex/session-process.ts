import {
  type ErrorCode,
  type ExecProcess,
  GatewayError,
  MAX_HOLD_MS,
  type ProcessEvent,
  type ReadOutput,
  type StartRequest,
} from '../protocol/index.js';
import type { Attachment } from './attachment.js';
import { RPC, RpcError } from './rpc-error.js';
import { StdinWrites, type WriteStatus } from './stdin-writes.js';

/** Payload of one read without a limit, in bytes: more than is ever retained, unless the process prints on and on. */
const MOST_READ_BYTES = 8 * 1024 * 1024;

/** Longest wait of one read of the core, in milliseconds. */
const WAIT_MS = 60_000;

const KINDS: Partial<Record<ErrorCode, string>> = {
  command_not_found: 'spawnNotFound',
  cwd_not_found: 'spawnNotFound',
  permission_denied: 'spawnPermissionDenied',
  cwd_permission_denied: 'spawnPermissionDenied',
};

/** What starts it: as it is, or in a sandbox. */
type Start = (request: StartRequest) => Promise<unknown>;

/** What `process/read` asks for. */
export interface ReadParams {
  afterSeq: number;
  maxBytes: number | undefined;
  waitMs: number;
}

/** One process of a session: a process of the core under the client's name for it. */
export class SessionProcess {
  readonly #processes: ExecProcess;
  readonly #name: string;
  readonly #writes: StdinWrites;
  readonly #process_id: string;
  /** Settled when it runs, or could not be started. */
  readonly started: Promise<void>;
  #running = false;
  #lost = false;
  #told: Attachment | null = null;
  /** When `closed` was told, in milliseconds of the steady clock; null before. */
  closed_at: number | null = null;

  /** Starts it, by `start`. */
  constructor(processes: ExecProcess, name: string, start: Start, request: StartRequest & { process_id: string }) {
    this.#processes = processes;
    this.#name = name;
    this.#process_id = request.process_id;
    this.started = this.#begin(start, request);
    this.#writes = new StdinWrites(processes, request.process_id, request.tty ? 'tty' : request.pipe_stdin ? 'pipe' : 'none');
  }

  async #begin(start: Start, request: StartRequest): Promise<void> {
    try {
      await start(request);
      this.#running = true;
    } catch (error) {
      throw startError(error);
    }
  }

  /**
   * Tells a connection what the process does, at its pace: the process waits for it.
   * @param after_seq from where on; null from now on
   */
  async push(attachment: Attachment, after_seq: number | null): Promise<void> {
    if (this.#told === attachment || this.#lost) return;
    this.#told = attachment;
    await this.started;
    try {
      await this.#tell(attachment, after_seq);
    } catch (error) {
      // Its record is gone: whoever asks for it is told so.
      if (error instanceof GatewayError && error.code === 'process_not_found') this.#lose();
      if (!attachment.gone.aborted) attachment.drop(`${this.#name} can no longer be followed`);
    }
  }

  #lose(): void {
    this.#lost = true;
    this.closed_at ??= performance.now();
  }

  async #tell(attachment: Attachment, after_seq: number | null): Promise<void> {
    const from = after_seq ?? (await this.#processes.get(this.#process_id)).next_seq - 1;
    const query = { after_seq: from, hold_ms: MAX_HOLD_MS };
    const events = await this.#processes.follow(this.#process_id, query, { lend: true, signal: attachment.gone });
    if (events.ended) this.closed_at ??= performance.now();
    for await (const batch of events) {
      for (const event of batch) {
        await attachment.outbox.room();
        if (attachment.gone.aborted) return;
        // What is missing can be told to nobody: the client asks for it when it is back, and learns that it is gone.
        if (event.event === 'gap') return attachment.drop(`output of ${this.#name} was lost`);
        attachment.outbox.send(pushMessage(this.#name, event));
        if (event.event === 'closed') this.closed_at = performance.now();
      }
    }
  }

  /** Answers `process/read`. */
  async read({ afterSeq, maxBytes, waitMs }: ReadParams, signal: AbortSignal): Promise<object> {
    await this.started.catch(() => Promise.reject(unknownProcess(this.#name)));
    const info = await this.#processes.get(this.#process_id, {}, { signal });
    const after_seq = Math.min(afterSeq, info.next_seq - 1);
    const out = await this.#readAll(after_seq, maxBytes, waitMs, signal);
    const chunks = out.chunks.filter(({ seq }) => seq > afterSeq);
    const last = chunks.at(-1);
    let { next_seq, exit_code, closed } = out;
    if (maxBytes !== undefined && last) {
      next_seq = last.seq + 1;
      const now = await this.#processes.get(this.#process_id, {}, { signal });
      exit_code = now.exit_code;
      closed = now.state === 'closed';
    }
    return {
      chunks: chunks.map(({ seq, stream, chunk }) => ({ seq, stream, chunk: base64(chunk) })),
      nextSeq: next_seq,
      exited: exit_code !== null,
      exitCode: exit_code,
      closed,
      failure: null,
      sandboxDenied: false,
    };
  }

  /** With no limit all there is, and what it says of the end is true after these chunks. */
  async #readAll(after_seq: number, maxBytes: number | undefined, waitMs: number, signal: AbortSignal): Promise<ReadOutput> {
    const deadline = performance.now() + waitMs;
    const query = (from: number) => {
      const wait_ms = Math.max(0, Math.min(WAIT_MS, Math.ceil(deadline - performance.now())));
      return { after_seq: from, wait_ms, max_bytes: maxBytes ?? MOST_READ_BYTES };
    };
    let out = await this.#processes.read(this.#process_id, query(after_seq), { signal });
    const isNews = () => out.chunks.length > 0 || out.closed || out.gap !== null || (out.exited && out.next_seq - 1 > after_seq);
    while (!isNews() && performance.now() < deadline) {
      out = await this.#processes.read(this.#process_id, query(after_seq), { signal });
    }
    if (maxBytes !== undefined) return out;
    let bytes = 0;
    const chunks = [...out.chunks];
    while (out.chunks.length > 0 && bytes < MOST_READ_BYTES) {
      out = await this.#processes.read(this.#process_id, { after_seq: out.next_seq - 1, max_bytes: MOST_READ_BYTES }, { signal });
      chunks.push(...out.chunks);
      bytes += out.chunks.reduce((sum, { chunk }) => sum + chunk.length, 0);
    }
    return { ...out, chunks };
  }

  /** Answers `process/write`; writes are done in the order in which they were asked for. */
  async write(bytes: Buffer, writeId: string): Promise<WriteStatus> {
    return await this.#writes.write(bytes, writeId, this.started);
  }

  /** Sends SIGINT to the group, if there is one. */
  async interrupt(): Promise<void> {
    await this.started.catch(() => {});
    if (this.#running) await this.#processes.signal(this.#process_id, { signal: 'INT' }).catch(passEnded);
  }

  /** Kills the group at once, whether or not its leader has ended. Answers whether it had not. */
  async terminate(): Promise<boolean> {
    await this.started.catch(() => {});
    if (!this.#running) return false;
    try {
      return (await this.#processes.terminate(this.#process_id, { grace_ms: 0 })).running;
    } catch (error) {
      passEnded(error);
      return false;
    }
  }
}

/** The message that tells an event. */
function pushMessage(processId: string, event: Exclude<ProcessEvent, { event: 'gap' }>): object {
  const { seq } = event;
  if (event.event === 'closed') return { method: 'process/closed', params: { processId, seq } };
  if (event.event === 'exited')
    return { method: 'process/exited', params: { processId, seq, exitCode: event.exit_code, sandboxDenied: false } };
  return { method: 'process/output', params: { processId, seq, stream: event.stream, chunk: base64(event.chunk) } };
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** The answer to whoever names a process that is not there. */
export const unknownProcess = (name: string): RpcError => new RpcError(RPC.INVALID_REQUEST, `unknown process id ${name}`);

/** Passes over that a process is gone already. @throws any other error */
export function passEnded(error: unknown): void {
  if (error instanceof GatewayError && (error.code === 'process_exited' || error.code === 'process_not_found')) return;
  throw error;
}

function startError(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.status === 500) return error;
  if (error.code === 'invalid_argument') return new RpcError(RPC.INVALID_PARAMS, error.message);
  const data = error.status === 422 ? { kind: KINDS[error.code] ?? 'spawnFailed' } : undefined;
  return new RpcError(RPC.INTERNAL, error.message, data);
}
