import { WebSocket } from 'ws';
import { type Attached, attach } from '../../src/client/attach.js';
import { RemoteExecProcess, type RemoteOptions } from '../../src/client/remote-exec-process.js';
import type { CallOptions, ExecProcess, FollowQuery, ProcessEvent, Subscription, WriteOptions, Written } from '../../src/protocol/index.js';

/** Processes behind a gateway that are followed and written to by WebSocket, and reached by HTTP for all else. */
export class AttachedProcess extends RemoteExecProcess implements ExecProcess {
  readonly #options: RemoteOptions;
  /** Those that write, by process. */
  readonly #writers = new Map<string, Promise<Attached>>();

  constructor(options: RemoteOptions) {
    super(options);
    this.#options = options;
  }

  override async follow(process_id: string, query: FollowQuery = {}, { signal }: CallOptions = {}): Promise<Subscription<ProcessEvent>> {
    signal?.throwIfAborted();
    const attached = await attach({ ...this.#options, ...query, process_id, read_only: true, WebSocket, signal });
    const { state, next_seq } = attached.process;
    return {
      ended: state === 'closed' && (query.after_seq ?? 0) >= next_seq - 1,
      gap: attached.gap,
      [Symbol.asyncIterator]: () => ({ next: () => quietly(attached, signal), return: () => attached.return() }),
    };
  }

  /** What only a single call can ask for goes by HTTP: a limit of time, a place, one process, an abort; and what must fail. */
  override async write(process_id: string, bytes: Uint8Array, query: WriteOptions = {}, options: CallOptions = {}): Promise<Written> {
    const { wait_ms, offset, exact, created_at, eof } = query;
    if (wait_ms !== undefined || offset !== undefined || exact || created_at !== undefined || options.signal)
      return super.write(process_id, bytes, query, options);
    const writer = await this.#writer(process_id);
    await writer.write(bytes);
    if (eof) writer.end();
    const { stdin } = await this.get(process_id);
    return { accepted: true, accepted_bytes: stdin.accepted_bytes };
  }

  #writer(process_id: string): Promise<Attached> {
    const known = this.#writers.get(process_id);
    if (known) return known;
    const made = this.get(process_id).then(({ next_seq }) => attach({ ...this.#options, process_id, after_seq: next_seq - 1, WebSocket }));
    this.#writers.set(process_id, made);
    void made
      .then(consume)
      .finally(() => this.#writers.delete(process_id))
      .catch(() => {});
    return made;
  }
}

/** A follower that is given up ends, and does not fail. */
async function quietly(attached: Attached, signal: AbortSignal | undefined): Promise<IteratorResult<ProcessEvent[], undefined>> {
  try {
    return await attached.next();
  } catch (error) {
    if (signal?.aborted) return { done: true, value: undefined };
    throw error;
  }
}

async function consume(attached: Attached): Promise<void> {
  for await (const _batch of attached);
}
