import { type CallOptions, GatewayError, STDIN_QUEUE_BYTES, type WriteOptions } from '../protocol/index.js';
import type { Child } from './child.js';
import { FREE_ITS_ID } from './free-its-id.js';

/** Bytes handed to the system at a time, so that room shows as it appears. */
const PIECE_BYTES = 64 * 1024;

/** Pieces that wait to be filled again, for all processes. */
const MOST_SPARES = 16;
const spares: Uint8Array[] = [];

interface Writer {
  bytes: Uint8Array;
  readonly offset: number | undefined;
  readonly eof: boolean;
  /** Whether it is still to be refused when its offset is behind. */
  exact: boolean;
  settled: boolean;
  settle(error: unknown): void;
}

/**
 * The input of one process: an ordered, bounded queue. Writes are accepted in the order of arrival, as far as there is
 * room; a write that waits for room is given up by its caller, by its time, or by the end of the process.
 */
export class StdinQueue {
  readonly #child: Child;
  #writers: Writer[] = [];
  #queued_bytes = 0;
  #eof: boolean;
  #accepting = false;
  #ended: GatewayError | null = null;
  accepted_bytes = 0;

  /** @param piped whether the process has an input at all; without one it is at EOF from the start */
  constructor(child: Child, piped: boolean) {
    this.#child = child;
    this.#eof = !piped;
  }

  /** Whether a write can be accepted. */
  get open(): boolean {
    return !this.#eof && this.#ended === null;
  }

  /**
   * Accepts `bytes`, waiting `wait_ms` (default 0) for room. With `offset`, what was accepted before is skipped.
   * @returns input accepted so far, in bytes
   * @throws {GatewayError} `stdin_closed`, `process_exited`, `stdin_offset_ahead`, `stdin_offset_behind`, `stdin_backpressure`; the reason of an aborted signal
   */
  write(bytes: Uint8Array, { eof = false, offset, exact = false, wait_ms = 0 }: WriteOptions, options: CallOptions = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let signal: AbortSignal | undefined;
      const abort = () => writer.settle(signal?.reason);
      const writer: Writer = {
        bytes,
        offset,
        eof,
        exact,
        settled: false,
        settle: (error) => {
          if (writer.settled) return;
          writer.settled = true;
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
          this.#writers = this.#writers.filter((other) => other !== writer);
          if (error) reject(error);
          else resolve(this.accepted_bytes);
        },
      };
      this.#writers.push(writer);
      this.#accept();
      if (writer.settled) return;
      timer = setTimeout(() => writer.settle(this.#isBehind(writer) ? this.#behind(writer) : this.#full(wait_ms)), wait_ms);
      signal = options.signal; // asked for only now: most writes never wait
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Drops what is queued and refuses what comes: the process has ended (`process_exited`) or closed its input. */
  end(code: 'process_exited' | 'stdin_closed'): void {
    this.#ended = new GatewayError(code, ENDED[code]);
    this.#queued_bytes = 0;
    this.#accept();
  }

  /** Serves the writers in turn. A child may take bytes at once, and call back while this runs. */
  #accept(): void {
    if (this.#accepting) return;
    this.#accepting = true;
    while (this.#writers[0] && this.#take(this.#writers[0]));
    this.#accepting = false;
  }

  /** Accepts what there is room for; false when the writer has to wait. */
  #take(writer: Writer): boolean {
    const { offset, eof } = writer;
    if (offset !== undefined && offset > this.accepted_bytes) {
      writer.settle(this.#ahead(offset));
      return true;
    }
    if (this.#isBehind(writer)) {
      writer.settle(this.#behind(writer));
      return true;
    }
    writer.exact = false; // what it sees accepted from here on is its own
    let rest = offset === undefined ? writer.bytes : writer.bytes.subarray(Math.min(this.accepted_bytes - offset, writer.bytes.length));
    const repeated = rest.length === 0 && (eof ? this.#eof : offset !== undefined);
    while (rest.length > 0 && this.open && this.#queued_bytes < STDIN_QUEUE_BYTES) {
      const piece = rest.subarray(0, Math.min(PIECE_BYTES, STDIN_QUEUE_BYTES - this.#queued_bytes));
      rest = rest.subarray(piece.length);
      if (offset === undefined) writer.bytes = rest;
      this.#queue(piece);
    }
    if (!repeated && !this.open) writer.settle(this.#refusal());
    else if (rest.length > 0) return false;
    else {
      if (eof && !this.#eof) this.#endInput();
      writer.settle(null);
    }
    return true;
  }

  /** Queues a copy: whoever wrote has its bytes back once they are accepted. */
  #queue(piece: Uint8Array): void {
    const copy = copyOf(piece);
    this.accepted_bytes += piece.length;
    this.#queued_bytes += piece.length;
    this.#child.write(copy, (error) => {
      reuse(copy);
      if (error && !this.#ended) this.end('stdin_closed');
      this.#queued_bytes = Math.max(0, this.#queued_bytes - piece.length);
      this.#accept();
    });
  }

  #endInput(): void {
    this.#eof = true;
    this.#child.endInput(() => {});
  }

  #refusal(): GatewayError {
    const { accepted_bytes } = this;
    if (this.#ended) return new GatewayError(this.#ended.code, this.#ended.message, { accepted_bytes });
    return new GatewayError('stdin_closed', 'stdin is at EOF: start the process with pipe_stdin (or tty) to write, and write before eof.', {
      accepted_bytes,
    });
  }

  #full(wait_ms: number): GatewayError {
    const { accepted_bytes } = this;
    return new GatewayError(
      'stdin_backpressure',
      `The process did not read for ${wait_ms} ms and its queue of ${STDIN_QUEUE_BYTES} bytes is full; ` +
        `${accepted_bytes} bytes of input are accepted so far. Send the rest later, with offset.`,
      { accepted_bytes, limit: STDIN_QUEUE_BYTES },
    );
  }

  #ahead(offset: number): GatewayError {
    const { accepted_bytes } = this;
    return new GatewayError(
      'stdin_offset_ahead',
      `offset ${offset} is ahead of the ${accepted_bytes} bytes accepted so far: send from offset ${accepted_bytes}.`,
      { accepted_bytes },
    );
  }

  /** Others came first: of an exact write nothing was taken yet. */
  #isBehind({ exact, offset }: Writer): boolean {
    return exact && offset !== undefined && offset < this.accepted_bytes;
  }

  #behind({ offset }: Writer): GatewayError {
    const { accepted_bytes } = this;
    return new GatewayError(
      'stdin_offset_behind',
      `offset ${offset} is behind the ${accepted_bytes} bytes accepted so far: others have written. Send from offset ${accepted_bytes}.`,
      { accepted_bytes },
    );
  }
}

/** A large piece in memory that is used over and over: fresh memory makes the engine collect all the time. */
function copyOf(piece: Uint8Array): Uint8Array {
  if (piece.length <= PIECE_BYTES / 2) return Buffer.from(piece);
  const block = spares.pop() ?? new Uint8Array(PIECE_BYTES);
  block.set(piece);
  return block.subarray(0, piece.length);
}

function reuse({ buffer, length }: Uint8Array): void {
  if (length > PIECE_BYTES / 2 && spares.length < MOST_SPARES) spares.push(new Uint8Array(buffer));
}

const ENDED = {
  process_exited: `The process has ended and takes no more input. ${FREE_ITS_ID}`,
  stdin_closed: 'The process has closed its input.',
};
