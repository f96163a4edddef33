import type { Readable } from 'node:stream';
import { attempt } from '../client/attempt.js';
import { Backoff, type RetryOptions } from '../client/retry.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess, WriteOptions } from '../protocol/exec-process.js';
import { InputBlocks } from './input-blocks.js';

/** How long the gateway may wait for the process to read, in milliseconds. */
const WAIT_MS = 20_000;

/** Writes on their way at a time, while whole blocks wait: the gateway takes the next one in while it feeds the process from the last. */
const MOST_WRITES = 2;

/** Refusals after which the process takes no more input. */
const OVER = new Set(['stdin_closed', 'process_exited', 'process_not_found']);

/** Where the input goes and from where on. */
export interface FeedTarget {
  processes: ExecProcess;
  process_id: string;
  /** Input that was accepted before, in bytes. */
  accepted_bytes: number;
  /** Others may type too: then a write says where it begins only when it is repeated. */
  shared: boolean;
  retry: Required<RetryOptions>;
}

/** A part of the input on its way. */
interface Part {
  bytes: Uint8Array;
  /** Where what is left of it begins. */
  offset: number;
  end: number;
  eof: boolean;
  /** The part before it, which it may overtake once. */
  before: Promise<void> | null;
}

/**
 * Feeds a process with what comes in. What arrives while a write is on its way goes with the next, unless it fills a block.
 * A write that is repeated, or may overtake another, says where it begins: nothing arrives twice, or in another order.
 */
export class InputFeed {
  readonly #target: FeedTarget;
  readonly #source: Readable;
  readonly #waiting = new InputBlocks();
  /** Where the next write begins. */
  #offset: number;
  #under_way = 0;
  #last: Promise<void> = Promise.resolve();
  #failure: unknown = null;
  #ended = false;
  #over = false;
  #wake: () => void = () => {};
  #onSent: () => void = () => {};

  constructor(source: Readable, target: FeedTarget) {
    this.#source = source;
    this.#target = target;
    this.#offset = target.accepted_bytes;
  }

  /** Adds bytes, which may change afterwards. A source that is too fast is paused. */
  push(bytes: Uint8Array): void {
    if (this.#over || bytes.length === 0) return;
    this.#waiting.push(bytes);
    if (this.#waiting.full) this.#source.pause();
    this.#wake();
  }

  /** Resolves when all that was pushed is accepted, or refused, or after `ms` milliseconds. */
  sent(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onSent = () => {
        if (!this.#over && (this.#under_way > 0 || !this.#waiting.empty)) return;
        clearTimeout(timer);
        resolve();
      };
      this.#onSent();
    });
  }

  /** No more comes: the process gets its EOF after what waits. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /**
   * Feeds until the input ends, the process takes no more, or `signal` aborts.
   * @throws {GatewayError} when the gateway stays out of reach, or refuses for another reason
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      let all_sent = false;
      while (!this.#over && !signal.aborted) {
        if (all_sent && this.#under_way === 0) return;
        if (all_sent || !this.#mayWrite) {
          await this.#news(signal);
          if (this.#failure !== null) throw this.#failure;
          continue;
        }
        const bytes = this.#waiting.next();
        if (!this.#waiting.full && !this.#ended) this.#source.resume();
        all_sent = this.#ended && this.#waiting.empty;
        this.#begin(bytes, all_sent, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#over = true;
      this.#waiting.clear();
      this.#source.destroy();
      this.#onSent();
    }
  }

  get #mayWrite(): boolean {
    if (this.#waiting.empty && !this.#ended) return false;
    return this.#under_way < (this.#waiting.full && !this.#target.shared ? MOST_WRITES : 1);
  }

  #begin(bytes: Uint8Array, eof: boolean, signal: AbortSignal): void {
    const offset = this.#offset;
    const end = offset + bytes.length;
    if (!this.#target.shared) this.#offset = end;
    this.#under_way += 1;
    this.#last = this.#send({ bytes, offset, end, eof, before: this.#last }, signal)
      .then(() => this.#waiting.giveBack(bytes))
      .catch((error) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#under_way -= 1;
        this.#onSent();
        this.#wake();
      });
  }

  async #send(part: Part, signal: AbortSignal): Promise<void> {
    const { processes, process_id, shared, retry } = this.#target;
    const { bytes, end, eof } = part;
    const backoff = new Backoff(retry);
    for (let again = false; !this.#over; again = true) {
      const at: WriteOptions = again || !shared ? { offset: part.offset } : {};
      const rest = bytes.subarray(bytes.length - (end - part.offset));
      const write = (signal: AbortSignal) => processes.write(process_id, rest, { ...at, eof, wait_ms: WAIT_MS }, { signal });
      try {
        const { accepted_bytes } = await attempt(write, WAIT_MS + retry.silence_ms, signal);
        backoff.reached();
        if (shared) this.#offset = accepted_bytes;
        return;
      } catch (error) {
        await this.#refused(part, error, backoff, signal);
      }
    }
  }

  /** Returns when the part is to be sent again, from its offset. */
  async #refused(part: Part, error: unknown, backoff: Backoff, signal: AbortSignal): Promise<void> {
    if (!(error instanceof GatewayError)) throw error;
    const { before } = part;
    if (OVER.has(error.code)) this.#over = true;
    else if (error.code === 'stdin_offset_ahead' && before !== null) {
      part.before = null;
      await before;
    } else if (error.code === 'stdin_backpressure') {
      backoff.progress();
      part.offset = Math.max(part.offset, Math.min(error.fields.accepted_bytes ?? 0, part.end));
    } else await backoff.pause(error, signal);
  }

  #news(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
