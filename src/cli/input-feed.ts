import type { Readable } from 'node:stream';
import { attempt } from '../client/attempt.js';
import { Backoff, type RetryOptions } from '../client/retry.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess, WriteOptions } from '../protocol/exec-process.js';
import { InputBlocks } from './input-blocks.js';

/** How long the gateway may wait for the process to read, in milliseconds. */
const WAIT_MS = 20_000;

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

/**
 * Feeds a process with what comes in. One write is on its way at a time, what arrives meanwhile goes with the next; a write
 * that is repeated says where it begins, so that nothing arrives twice.
 */
export class InputFeed {
  readonly #target: FeedTarget;
  readonly #source: Readable;
  readonly #waiting = new InputBlocks();
  #offset: number;
  #ended = false;
  #over = false;
  #wake: () => void = () => {};

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
      while (!this.#over && !signal.aborted) {
        if (this.#waiting.empty && !this.#ended) {
          await this.#news(signal);
          continue;
        }
        const bytes = this.#waiting.next();
        if (!this.#waiting.full && !this.#ended) this.#source.resume();
        const eof = this.#ended && this.#waiting.empty;
        await this.#send(bytes, eof, signal);
        if (eof) return;
        this.#waiting.giveBack(bytes);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#over = true;
      this.#waiting.clear();
      this.#source.destroy();
    }
  }

  async #send(bytes: Uint8Array, eof: boolean, signal: AbortSignal): Promise<void> {
    const { processes, process_id, shared, retry } = this.#target;
    const backoff = new Backoff(retry);
    const end = this.#offset + bytes.length;
    for (let again = false; ; again = true) {
      const at: WriteOptions = again || !shared ? { offset: this.#offset } : {};
      const rest = bytes.subarray(bytes.length - (end - this.#offset));
      const write = (signal: AbortSignal) => processes.write(process_id, rest, { ...at, eof, wait_ms: WAIT_MS }, { signal });
      try {
        const { accepted_bytes } = await attempt(write, WAIT_MS + retry.silence_ms, signal);
        backoff.reached();
        this.#offset = shared ? accepted_bytes : end;
        return;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        if (OVER.has(error.code)) {
          this.#over = true;
          return;
        }
        if (error.code === 'stdin_backpressure') {
          backoff.progress();
          this.#offset = Math.min(error.fields.accepted_bytes ?? this.#offset, end);
        } else await backoff.pause(error, signal);
      }
    }
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
