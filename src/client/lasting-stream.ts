import { GatewayError } from '../protocol/error.js';
import { attempt } from './attempt.js';
import type { EventConnection } from './event-connection.js';
import { onAbort } from './on-abort.js';
import { Backoff, type RetryOptions } from './retry.js';

/** What a {@link LastingStream} is made of. */
export interface StreamSource<Event> {
  /** Connects at the present place; null when nothing will come any more. */
  open(signal: AbortSignal): Promise<EventConnection<Event> | null>;
  /** The events not told before. Moves the place. */
  take(events: Event[]): Event[];
  /** Whether the last event was told. */
  readonly finished: boolean;
  /** Whether these events are more than what every new connection begins with. */
  isProgress(events: Event[]): boolean;
}

const DONE = { done: true, value: undefined } as const;

/**
 * Events in batches that outlive their connection: when it drops, fails or falls silent, the next one goes on at the
 * same place. Each batch is one network read, made when asked for. Ends quietly when left or aborted.
 */
export class LastingStream<Event> implements AsyncIterableIterator<Event[], undefined> {
  readonly #source: StreamSource<Event>;
  readonly #silence_ms: number;
  readonly #max_delay_ms: number;
  readonly #backoff: Backoff;
  readonly #life = new AbortController();
  readonly #forget: () => void;
  #connection: EventConnection<Event> | null = null;

  private constructor(source: StreamSource<Event>, retry: Required<RetryOptions>, signal?: AbortSignal) {
    this.#source = source;
    this.#silence_ms = retry.silence_ms;
    this.#max_delay_ms = retry.max_delay_ms;
    this.#backoff = new Backoff(retry);
    this.#forget = onAbort(signal, () => this.#close());
  }

  /** Resolves with the first connection, or rejects with what it met: it is not tried again. */
  static async open<Event>(
    source: StreamSource<Event>,
    retry: Required<RetryOptions>,
    signal?: AbortSignal,
  ): Promise<LastingStream<Event>> {
    signal?.throwIfAborted();
    const stream = new LastingStream(source, retry, signal);
    try {
      stream.#connection = await stream.#connect();
      return stream;
    } catch (error) {
      stream.#close();
      signal?.throwIfAborted();
      throw error;
    }
  }

  /** Headers of the connection there is; null when nothing will come. */
  get headers(): Headers | null {
    return this.#connection?.headers ?? null;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Event[], undefined>> {
    try {
      while (this.#connection && !this.#source.finished && !this.#ended) {
        const events = await this.#read(this.#connection);
        if (events.length > 0) return { done: false, value: events };
      }
    } catch (error) {
      if (!this.#ended) {
        this.#close();
        throw error;
      }
    }
    return this.return();
  }

  async return(): Promise<typeof DONE> {
    this.#close();
    return DONE;
  }

  get #ended(): boolean {
    return this.#life.signal.aborted;
  }

  async #read(connection: EventConnection<Event>): Promise<Event[]> {
    try {
      const told = await connection.read(this.#silence_ms);
      if (told === null) throw new Error('it ended too early');
      const events = this.#source.take(told);
      if (this.#source.isProgress(events)) this.#backoff.progress();
      return events;
    } catch (cause) {
      if (this.#ended) return [];
      connection.close();
      if (performance.now() - connection.opened_at >= this.#max_delay_ms) this.#backoff.progress(); // it held for a while
      await this.#reconnect(asBroken(cause));
      return [];
    }
  }

  async #reconnect(cause: unknown): Promise<void> {
    let error = cause;
    for (;;) {
      await this.#backoff.pause(error, this.#life.signal);
      try {
        this.#connection = await this.#connect();
        this.#backoff.reached();
        return;
      } catch (next) {
        error = next;
      }
    }
  }

  async #connect(): Promise<EventConnection<Event> | null> {
    const connection = await attempt((signal) => this.#source.open(signal), this.#silence_ms, this.#life.signal);
    if (this.#ended) connection?.close();
    return connection;
  }

  #close(): void {
    this.#forget();
    this.#life.abort();
    this.#connection?.close();
  }
}

function asBroken(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  return new GatewayError('upstream_unreachable', `The stream of the gateway broke: ${(cause as Error).message}.`, {}, { cause });
}
