import { GatewayError } from '../protocol/error.js';
import type { ProcessInfo } from '../protocol/process.js';
import type { SameProcess } from './same-process.js';

/** Input of one viewer that is not accepted yet, in bytes, at which the viewer is not read any more, and at which it is again. */
const MOST_INPUT_BYTES = 256 * 1024;
const LOW_BYTES = 64 * 1024;

/** How long one call waits for a process that does not read, in milliseconds; the next one goes on where it ended. */
const ROUND_MS = 20_000;

/** Refusals that hold for all input to come. */
const FINAL: ReadonlySet<string> = new Set(['stdin_closed', 'process_exited']);

const EOF = new Uint8Array(0);

/** Whom the input comes from. */
export interface InputSource {
  /** Stops reading from the viewer. */
  pause(): void;
  resume(): void;
  /** Input of this viewer was accepted; so much of the process's it is now, in bytes. */
  accepted(accepted_bytes: number): void;
  /** Input was refused; what waited behind it is dropped. */
  refused(about: 'input' | 'eof', error: GatewayError): void;
}

/**
 * The input of one viewer: accepted in the order of arrival, one call after the other, since calls that go over a network
 * may overtake each other. What comes meanwhile is gathered up to a bound; then the viewer is not read any more. Each call
 * says exactly where it begins, so that what others write at the same time is never taken for a repetition.
 */
export class AttachInput {
  readonly #process: SameProcess;
  readonly #source: InputSource;
  readonly #anywhere: boolean;
  /** What the process has accepted, as far as it is known here: where the next call begins. */
  #accepted_bytes: number;
  /** Where the next input of a viewer that counts begins. */
  #end: number;
  #waiting: Uint8Array[] = [];
  #held_bytes = 0;
  #busy = false;
  /** Whether what comes was sent before the viewer knew that others have written. */
  #stale = false;
  /** Why the process takes no input any more. */
  #refusal: GatewayError | null = null;
  #left = false;
  #onSettled: (() => void) | null = null;
  #paused = false;

  /** @param anywhere whether the viewer does not count: its bytes go to the end of the input, wherever that is by then */
  constructor(process: SameProcess, { accepted_bytes }: ProcessInfo['stdin'], anywhere: boolean, source: InputSource) {
    this.#process = process;
    this.#anywhere = anywhere;
    this.#accepted_bytes = accepted_bytes;
    this.#end = accepted_bytes;
    this.#source = source;
  }

  /** Takes bytes that begin at `offset` of the whole input; of what came before nothing is taken twice. */
  pushAt(offset: number, bytes: Uint8Array): void {
    if (this.#stale) return;
    // What was on its way behind refused input is refused for the same reason, and not for its place.
    if (this.#refusal) {
      this.#source.refused('input', this.#refusal);
      return;
    }
    if (offset > this.#end) {
      this.#source.refused('input', this.#ahead(offset));
      return;
    }
    const repeated = Math.min(this.#end - offset, bytes.length);
    this.#end += bytes.length - repeated;
    if (repeated < bytes.length) this.#push(bytes.subarray(repeated));
    else if (!this.#busy) this.#source.accepted(this.#accepted_bytes);
  }

  /** Takes bytes that come next. */
  append(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#push(bytes);
  }

  /** The viewer knows that others have written, and goes on after them. */
  goOn(offset: number): void {
    if (offset !== this.#accepted_bytes) {
      this.#source.refused('input', offset > this.#accepted_bytes ? this.#ahead(offset) : this.#behind(offset));
      return;
    }
    this.#stale = false;
    this.#end = offset;
  }

  /** Closes the input after what has come so far. */
  end(): void {
    if (!this.#stale) this.#push(EOF);
  }

  /** Resolves when no input is on its way to the process. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#busy) this.#onSettled = resolve;
      else resolve();
    });
  }

  /** The viewer has left: what has arrived is still written, as far as the process takes it soon. */
  leave(): void {
    this.#left = true;
  }

  #push(bytes: Uint8Array): void {
    this.#held_bytes += bytes.length;
    this.#waiting.push(bytes);
    if (!this.#busy) this.#next();
    if (this.#held_bytes < MOST_INPUT_BYTES || this.#paused) return;
    this.#paused = true;
    this.#source.pause();
  }

  #next(): void {
    const bytes = this.#take();
    this.#busy = bytes !== null;
    if (bytes !== null) this.#write(bytes);
    else this.#onSettled?.();
  }

  /** All bytes that wait up to the end of the input, or that end. */
  #take(): Uint8Array | null {
    const end = this.#waiting.indexOf(EOF);
    const taken = this.#waiting.splice(0, end === 0 ? 1 : end < 0 ? this.#waiting.length : end);
    return taken.length > 1 ? Buffer.concat(taken) : (taken[0] ?? null);
  }

  #write(bytes: Uint8Array): void {
    const offset = this.#accepted_bytes;
    const query = bytes === EOF ? { eof: true } : { offset, exact: true, wait_ms: ROUND_MS };
    this.#process.write(bytes, query).then(
      ({ accepted_bytes }) => this.#done(bytes, accepted_bytes),
      (error: unknown) => this.#failed(asGatewayError(error), bytes),
    );
  }

  #done(bytes: Uint8Array, accepted_bytes: number): void {
    this.#accepted_bytes = accepted_bytes;
    this.#held_bytes -= bytes.length;
    this.#source.accepted(accepted_bytes);
    this.#next();
    this.#readOn();
  }

  #failed(error: GatewayError, bytes: Uint8Array): void {
    const before = this.#accepted_bytes;
    this.#accepted_bytes = error.fields.accepted_bytes ?? before;
    if (error.code === 'stdin_offset_behind' && this.#anywhere) {
      this.#write(bytes);
      return;
    }
    if (error.code === 'stdin_backpressure' && !this.#left) {
      const taken = bytes === EOF ? 0 : this.#accepted_bytes - before; // before the end of the input it is what others wrote
      this.#held_bytes -= taken;
      if (taken > 0) this.#source.accepted(this.#accepted_bytes);
      this.#write(taken > 0 ? bytes.subarray(taken) : bytes);
      return;
    }
    if (FINAL.has(error.code)) this.#refusal = error;
    this.#waiting = [];
    this.#held_bytes = 0;
    this.#end = this.#accepted_bytes;
    this.#stale = error.code === 'stdin_offset_behind';
    this.#busy = false;
    this.#source.refused(bytes === EOF ? 'eof' : 'input', error);
    this.#onSettled?.();
    this.#readOn();
  }

  #readOn(): void {
    if (!this.#paused || this.#held_bytes > LOW_BYTES) return;
    this.#paused = false;
    this.#source.resume();
  }

  #behind(offset: number): GatewayError {
    const accepted_bytes = this.#accepted_bytes;
    const detail = `offset ${offset} is behind the ${accepted_bytes} bytes accepted so far. Go on from there.`;
    return new GatewayError('stdin_offset_behind', detail, { accepted_bytes });
  }

  #ahead(offset: number): GatewayError {
    const accepted_bytes = this.#accepted_bytes;
    const detail = `offset ${offset} leaves a hole: the input so far ends at ${this.#end}. Send from there.`;
    return new GatewayError('stdin_offset_ahead', detail, { accepted_bytes });
  }
}

/** What is not of the table stays inside. */
export function asGatewayError(error: unknown): GatewayError {
  return error instanceof GatewayError ? error : new GatewayError('internal', 'The gateway failed.', {}, { cause: error });
}
