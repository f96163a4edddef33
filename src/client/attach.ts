import type { AttachEvent, AttachHello } from '../protocol/attach.js';
import { ATTACH_PROTOCOL, attachError } from '../protocol/attach-frame.js';
import type { SignalScope } from '../protocol/control.js';
import { GatewayError } from '../protocol/error.js';
import { seqOf } from '../protocol/event-seq.js';
import type { Gap, ProcessEvent } from '../protocol/output.js';
import type { ProcessInfo } from '../protocol/process.js';
import type { TtySize } from '../protocol/start.js';
import { AttachConnection } from './attach-connection.js';
import { detached, lost, replaced } from './attach-errors.js';
import { type AttachOptions, newTicket } from './attach-options.js';
import { AttachOutbox } from './attach-outbox.js';
import { endReason, openSocket, type SocketEnd } from './attach-socket.js';
import { attempt } from './attempt.js';
import { bytesOf, type Input } from './input-bytes.js';
import { onAbort } from './on-abort.js';
import { startRetry } from './persist.js';
import { pathOf } from './process-path.js';
import { Backoff, retrySettings } from './retry.js';
import { WaitingEvents } from './waiting-events.js';
import { Wire } from './wire.js';

/** Events that wait to be taken, in bytes of output: beyond it the connection is not read, or given up for a while. */
const WAITING_BYTES = 4 * 1024 * 1024;

/**
 * Attaches to a process by WebSocket. Resolves with the first connection, or rejects with the `GatewayError` it met. A
 * connection that drops later is taken up again where it was: no output and no input is lost or comes twice.
 */
export async function attach(options: AttachOptions): Promise<Attached> {
  const attached = new Attached(options);
  await attached.ready;
  return attached;
}

/** A process that one is attached to. Its events come in batches, once; leaving the loop detaches. */
export class Attached implements AsyncIterableIterator<ProcessEvent[], undefined> {
  readonly #options: AttachOptions;
  readonly #wire: Wire;
  readonly #retry: ReturnType<typeof retrySettings>;
  #backoff: Backoff;
  readonly #outbox = new AttachOutbox((message) => this.#connection?.send(message) ?? false);
  readonly #life = new AbortController();
  #connection: AttachConnection | null = null;
  #hello: AttachHello | null = null;
  #after_seq: number;
  /** Whether the screen is still to come. */
  #unpainted: boolean;
  #exit_told = false;
  /** Whether the connection is lost, as far as was told. */
  #lost = false;
  #ticket: string | undefined;
  #size: TtySize | null = null;
  readonly #waiting = new WaitingEvents();
  /** Whether the connection is given up until what waits was taken. */
  #parked = false;
  #paused = false;
  #error: unknown = null;
  #greet: { resolve: () => void; reject: (error: unknown) => void } | null = null;
  /** Resolves with the first connection. */
  readonly ready: Promise<void>;

  constructor(options: AttachOptions) {
    this.#options = options;
    this.#wire = new Wire(options);
    this.#retry = retrySettings(options.retry);
    this.#backoff = new Backoff(startRetry(this.#retry));
    this.#after_seq = options.after_seq ?? 0;
    this.#unpainted = options.screen ?? false;
    this.ready = new Promise((resolve, reject) => {
      this.#greet = { resolve, reject };
    });
    const forget = onAbort(options.signal, () => this.#finish(options.signal?.reason));
    this.#life.signal.addEventListener('abort', forget, { once: true });
    if (!this.#life.signal.aborted) void this.#connect();
  }

  /** The process as it was when the connection began. */
  get process(): ProcessInfo {
    return (this.#hello as AttachHello).process;
  }

  /** The gap it starts with, which is its first event too. */
  get gap(): Gap | null {
    return this.#hello?.gap ?? null;
  }

  /**
   * Writes to stdin; resolves when the gateway has accepted it. Rejects with `invalid_argument` for what is neither text nor
   * bytes.
   */
  async write(input: Input): Promise<void> {
    const bytes = bytesOf(input);
    if (this.#life.signal.aborted) throw this.#error ?? detached();
    await this.#outbox.push(bytes);
  }

  /** Closes stdin after what was written. */
  end(): void {
    this.#outbox.end();
  }

  /** Gives the terminal another size; after a dropped connection the last one again. */
  resize({ cols, rows }: TtySize): void {
    this.#size = { cols, rows }; // and no more: a terminal's own event tells other things too
    this.#control({ type: 'resize', cols, rows });
  }

  /** Sends a signal; on a connection that is lost it is not sent. */
  signal(name: string, scope?: SignalScope): void {
    this.#control({ type: 'signal', signal: name, ...(scope ? { scope } : {}) });
  }

  /** Leaves; the process goes on. */
  detach(): void {
    this.#control({ type: 'detach' });
    this.#finish(null);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<ProcessEvent[], undefined>> {
    for (;;) {
      const value = this.#waiting.take();
      if (value) {
        this.#readOn();
        return { done: false, value };
      }
      if (this.#life.signal.aborted) {
        if (this.#error !== null) throw this.#error;
        return { done: true, value: undefined };
      }
      await this.#waiting.news();
    }
  }

  async return(): Promise<IteratorResult<ProcessEvent[], undefined>> {
    this.detach();
    return { done: true, value: undefined };
  }

  #control(message: object): void {
    this.#connection?.send(JSON.stringify(message));
  }

  async #connect(): Promise<void> {
    const { process_id, WebSocket, ticket } = this.#options;
    try {
      this.#ticket = await newTicket(this.#options);
    } catch (error) {
      await this.#again(error, true);
      return;
    }
    try {
      const query = this.#query();
      if (this.#life.signal.aborted) return;
      const { url, headers } = this.#wire.address(pathOf(process_id, '/attach'), query);
      const socket = openSocket(WebSocket, url.replace(/^http/, 'ws'), ATTACH_PROTOCOL, ticket ? {} : headers);
      let greeted = false;
      this.#connection = new AttachConnection(socket, this.#retry.silence_ms, {
        hello: (hello) => {
          greeted = true;
          this.#greeted(hello);
        },
        event: (event) => this.#event(event),
        accepted: (accepted_bytes) => this.#outbox.accepted(accepted_bytes),
        error: (error) => this.#refused(error),
        ended: (end, error) => void (greeted ? this.#dropped(end, error) : this.#refusedAtAll(error)),
      });
    } catch (error) {
      await this.#again(error);
    }
  }

  #query() {
    const { after_seq, stream, read_only } = this.#options;
    const more = { stream, read_only, ticket: this.#ticket };
    return this.#unpainted ? { screen: true, after_seq, ...more } : { after_seq: this.#after_seq, ...more };
  }

  #greeted(hello: AttachHello): void {
    if (this.#unpainted) this.#after_seq = hello.after_seq - 1; // what paints the screen bears this number
    const first = this.#hello;
    this.#hello = hello;
    if (first && first.process.created_at !== hello.process.created_at) {
      this.#finish(replaced(hello.process.process_id));
      return;
    }
    if (first && this.#size) this.#control({ type: 'resize', ...this.#size }); // before input: it is of a screen of this size
    this.#outbox.connected(hello.accepted_bytes);
    this.#backoff.reached();
    if (!first) this.#backoff = new Backoff(this.#retry);
    this.#greet?.resolve();
    this.#greet = null;
    this.#tellLine(null);
  }

  #event(event: ProcessEvent): void {
    const last = seqOf(event);
    const exits = event.event === 'exited'; // it may come before what paints, with a lower number
    if (exits ? this.#exit_told : last <= this.#after_seq) return;
    this.#after_seq = Math.max(last, this.#after_seq);
    if (exits) this.#exit_told = true;
    else this.#unpainted = false;
    this.#backoff.progress();
    this.#waiting.push(event);
    if (event.event === 'closed')
      this.#life.abort(); // the connection stays until the gateway ends it: a receipt may be on its way
    else if (this.#waiting.bytes > WAITING_BYTES && !this.#paused) this.#stopReading();
  }

  #stopReading(): void {
    this.#paused = true;
    if (this.#connection?.pause()) return;
    this.#parked = true;
    this.#connection?.drop();
  }

  #readOn(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (!this.#parked) this.#connection?.resume();
    else if (!this.#life.signal.aborted) void this.#connect();
    this.#parked = false;
  }

  #refused(message: Extract<AttachEvent, { type: 'error' }>): void {
    const error = attachError(message);
    if (error === null) return;
    if (error.code === 'stdin_offset_behind') {
      this.#outbox.goOn(error.fields.accepted_bytes ?? 0);
      return;
    }
    if (message.about === 'input' && error.status < 500) this.#outbox.fail(error);
    if (error.status < 500) this.#options.on_refused?.(message.about, error);
  }

  /** A connection that never was says nothing of its reason: a plain call meets the same checks, and tells. */
  async #refusedAtAll(cause: GatewayError | null): Promise<void> {
    if (this.#life.signal.aborted) return;
    const { process_id } = this.#options;
    const query = this.#query();
    let error: unknown = cause;
    try {
      const ask = (signal: AbortSignal) => this.#wire.empty({ path: pathOf(process_id, '/attach'), query, signal });
      if (!cause) await attempt(ask, this.#retry.silence_ms, this.#life.signal);
    } catch (told) {
      error = told instanceof GatewayError && told.code === 'upgrade_required' ? null : told;
    }
    await this.#again(error ?? new GatewayError('upstream_unreachable', 'The gateway answers, but no WebSocket comes through to it.'));
  }

  async #dropped({ code, reason }: SocketEnd, cause: GatewayError | null): Promise<void> {
    const { opened_at } = this.#connection as AttachConnection;
    this.#connection = null;
    if (!this.#parked) this.#paused = false; // the next one is read
    if (this.#life.signal.aborted) {
      this.#outbox.fail(detached());
      return;
    }
    if (code === 1000) return this.#finish(null);
    if (performance.now() - opened_at >= this.#retry.max_delay_ms) this.#backoff.progress(); // it held for a while
    await this.#again(cause ?? attachError(endReason(code, reason)) ?? lost(code));
  }

  /** @param at_first whether it is worth another attempt also before the first connection */
  async #again(cause: unknown, at_first = false): Promise<void> {
    this.#connection = null;
    if (this.#life.signal.aborted) return;
    try {
      if (this.#hello === null && !at_first) throw cause;
      if (cause instanceof GatewayError && this.#hello) this.#tellLine(cause);
      await this.#backoff.pause(cause, this.#life.signal);
    } catch (error) {
      return this.#finish(error);
    }
    await this.#connect();
  }

  #tellLine(lost: GatewayError | null): void {
    if (this.#lost === (lost !== null)) return;
    this.#lost = lost !== null;
    this.#options.on_line?.(lost);
  }

  #finish(error: unknown): void {
    if (this.#life.signal.aborted) return;
    this.#error = error ?? null;
    this.#life.abort();
    this.#connection?.drop();
    this.#greet?.reject(error);
    this.#outbox.fail(error ?? detached());
    this.#waiting.wake();
  }
}
