import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import { GatewayError } from '../protocol/error.js';
import { WholeLines } from './whole-lines.js';

const CR = '\r';
const LF = '\n';

/** One connection that carries server-sent events. Nothing is read before it is asked for. */
export class SseConnection {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #drop: () => void;
  readonly #max_event_bytes: number;
  readonly #lines = new WholeLines();
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #batch: EventSourceMessage[] = [];
  #after_cr = false;
  readonly opened_at = performance.now();
  readonly headers: Headers;

  /**
   * @param drop breaks the connection
   * @param max_event_bytes the largest event; a longer one breaks the connection
   */
  constructor(body: ReadableStream<Uint8Array>, headers: Headers, drop: () => void, max_event_bytes: number) {
    this.#parser = createParser({
      onEvent: (message) => this.#batch.push(message),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') throw this.#tooLarge();
      },
      maxBufferSize: max_event_bytes,
    });
    this.#max_event_bytes = max_event_bytes;
    this.#reader = body.getReader();
    this.headers = headers;
    this.#drop = drop;
  }

  /**
   * The events of one network read, often none; null at the end. An event that the end cuts short is dropped.
   * @throws {GatewayError} `upstream_unreachable` after `silence_ms` without a byte, or for an event without end
   */
  async read(silence_ms: number): Promise<EventSourceMessage[] | null> {
    let silent = false;
    const timer = setTimeout(() => {
      silent = true;
      this.#drop();
    }, silence_ms);
    try {
      const { done, value } = await this.#reader.read();
      return done ? null : this.#parse(value);
    } catch (error) {
      throw silent ? broken(`was silent for ${silence_ms} ms`) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Breaks the connection; a read that waits fails. */
  close(): void {
    this.#drop();
  }

  #parse(bytes: Uint8Array): EventSourceMessage[] {
    this.#batch = [];
    // The parser takes several times as long over lines that come in pieces.
    let text = this.#decoder.decode(this.#lines.take(bytes));
    if (this.#lines.held_bytes > this.#max_event_bytes) throw this.#tooLarge();
    if (text === '') return this.#batch;
    // The parser waits after a CR for the LF that may follow. The line has ended already: say so, and pass over that LF.
    if (this.#after_cr && text.startsWith(LF)) text = text.slice(1);
    this.#after_cr = text === '' ? false : text.endsWith(CR);
    if (text !== '') this.#parser.feed(this.#after_cr ? text + LF : text);
    return this.#batch;
  }

  #tooLarge(): GatewayError {
    return broken(`sent an event of more than ${this.#max_event_bytes} bytes`);
  }
}

function broken(why: string): GatewayError {
  return new GatewayError('upstream_unreachable', `The stream of the gateway ${why}: the connection was given up.`);
}
