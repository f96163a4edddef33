import { persist, startRetry } from '../client/persist.js';
import type { RetryOptions } from '../client/retry.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess, FollowQuery } from '../protocol/exec-process.js';
import { RUN_LINGER_MS } from '../protocol/limits.js';
import type { ProcessEvent } from '../protocol/output.js';
import type { Exit, ProcessInfo } from '../protocol/process.js';
import type { TtySize } from '../protocol/start.js';
import { type FeedTarget, InputFeed } from './input-feed.js';
import type { TypedInput } from './typed-input.js';

/** Answers of a gateway that ends or has ended. */
const GONE = new Set(['upstream_unreachable', 'shutting_down']);

/** How a process in the foreground was left: it ended (`exit` null: how is not known any more), or it goes on without us (`interrupted`: left by Ctrl-C). */
export type Outcome = { left: 'ended'; exit: Exit | null; closed: boolean } | { left: 'detached'; interrupted: boolean };

/** Where the events of a process go. */
export interface Sink {
  take(events: ProcessEvent[]): Promise<void>;
}

/** A process whose output comes here and whose input comes from here. */
export class Foreground {
  readonly #processes: ExecProcess;
  readonly #process: ProcessInfo;
  readonly #retry: Required<RetryOptions>;
  readonly #query: FollowQuery;
  #paint: Uint8Array | null = null;
  readonly #leaving = new AbortController();
  #resizing: Promise<void> | null = null;
  #sizes: TtySize[] = [];
  #exit: Exit | null = null;
  #detached: Outcome | null = null;
  #failure: { error: unknown } | null = null;

  /** @param hold_ms how long the process waits for us when its output is not taken; as long as for others unless given */
  constructor(processes: ExecProcess, process: ProcessInfo, retry: Required<RetryOptions>, hold_ms?: number) {
    this.#query = { hold_ms };
    this.#processes = processes;
    this.#process = process;
    this.#retry = retry;
  }

  /** Whether it runs on a terminal. */
  get tty(): boolean {
    return this.#process.tty !== null;
  }

  get process_id(): string {
    return this.#process.process_id;
  }

  /** Begins with what the terminal shows, in place of all that was printed; with all that where there is no showing it. */
  async beginWithScreen(): Promise<void> {
    try {
      const look = (signal: AbortSignal) => this.#processes.screen(this.process_id, { paint: true }, { signal });
      const { paint, next_seq } = await persist(look, { retry: startRetry(this.#retry) });
      this.#paint = paint;
      this.#query.after_seq = next_seq - 1;
    } catch (error) {
      // Too large a terminal, or a gateway that paints none.
      if (!(error instanceof GatewayError) || error.status >= 500) throw error;
    }
  }

  /**
   * Follows until the process is closed, or, after its end, until what still holds its output has been silent for 1 s.
   * @throws {GatewayError} when the gateway stays out of reach, or does not know the process any more
   */
  async follow(sink: Sink, input: TypedInput | null): Promise<Outcome> {
    const fed = input ? this.#feed(input) : null;
    let linger: NodeJS.Timeout | undefined;
    let closed = false;
    try {
      const { signal } = this.#leaving;
      if (this.#paint) await sink.take([{ event: 'output', seq: this.#query.after_seq ?? 0, stream: 'pty', chunk: this.#paint }]);
      const batches = await persist(() => this.#processes.follow(this.process_id, this.#query, { signal }), {
        retry: this.#retry,
        signal,
      });
      for await (const batch of batches) {
        clearTimeout(linger);
        await sink.take(batch);
        this.#exit ??= batch.find((event) => event.event === 'exited') ?? null;
        if (this.#exit) linger = setTimeout(() => this.#leaving.abort(), RUN_LINGER_MS);
        closed = batch.at(-1)?.event === 'closed';
      }
      closed ||= batches.ended;
    } catch (error) {
      if (!this.#leaving.signal.aborted) throw error;
    } finally {
      clearTimeout(linger);
      this.#leaving.abort();
      await fed;
    }
    if (this.#failure) throw this.#failure.error;
    return this.#detached ?? { left: 'ended', exit: this.#exit ?? (await this.#end()), closed };
  }

  /** How it ended, asked for: it is not told again where what its terminal shows came after it. */
  async #end(): Promise<Exit | null> {
    try {
      const { exit_code, signal } = await this.#processes.get(this.process_id);
      return exit_code === null ? null : { exit_code, signal };
    } catch (error) {
      if (error instanceof GatewayError) return null;
      throw error;
    }
  }

  /** Why it ended: one of the wire's reasons, `gone` when the gateway is not there to be asked; null when it is not known. */
  async reason(): Promise<string | null> {
    try {
      return (await this.#processes.get(this.process_id)).reason;
    } catch (error) {
      return error instanceof GatewayError && GONE.has(error.code) ? 'gone' : null;
    }
  }

  /** Leaves the process running, unless it has ended. @param interrupted whether by Ctrl-C */
  detach(interrupted = false): void {
    if (this.#leaving.signal.aborted) return;
    this.#detached = { left: 'detached', interrupted };
    this.#leaving.abort();
  }

  /** Passes a signal on; to the terminal's foreground group when there is a terminal. What has ended already is no failure. */
  signal(name: string): Promise<void> {
    const scope = this.tty ? 'foreground' : 'group';
    return this.#quietly((signal) => this.#processes.signal(this.process_id, { signal: name, scope }, { signal }));
  }

  /** Ends the process group, and all jobs of its terminal. */
  terminate(grace_ms?: number): Promise<void> {
    return this.#quietly(async (signal) => {
      await this.#processes.terminate(this.process_id, { grace_ms }, { signal });
    });
  }

  /** Gives the terminal another size; of many in a row the last ones count. */
  resize(size: TtySize): Promise<void> {
    this.#sizes = [...this.#sizes.slice(-1), size];
    this.#resizing ??= this.#resizeAll().finally(() => {
      this.#resizing = null;
    });
    return this.#resizing;
  }

  async #resizeAll(): Promise<void> {
    for (let size = this.#sizes.shift(); size; size = this.#sizes.shift()) {
      const wanted = size;
      await this.#quietly((signal) => this.#processes.resize(this.process_id, wanted, { signal }));
    }
  }

  async #feed(input: TypedInput): Promise<void> {
    const { accepted_bytes } = this.#process.stdin;
    const target: FeedTarget = {
      processes: this.#processes,
      process_id: this.process_id,
      accepted_bytes,
      shared: input.shared,
      retry: this.#retry,
    };
    const feed = new InputFeed(input.source, target);
    input.pipe(feed, (interrupted) => this.detach(interrupted));
    try {
      await feed.run(this.#leaving.signal);
    } catch (error) {
      this.#failure = { error };
      this.#leaving.abort();
    }
  }

  async #quietly(call: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await persist(call, { retry: this.#retry, signal: this.#leaving.signal });
    } catch (error) {
      if (!(error instanceof GatewayError) && !this.#leaving.signal.aborted) throw error;
    }
  }
}
