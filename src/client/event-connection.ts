import { GatewayError } from '../protocol/error.js';

/** Takes the bytes of a stream apart as they come. */
export interface EventDecoder<Event> {
  /**
   * The events that are whole now, often none.
   * @throws {GatewayError} `upstream_unreachable` for what no gateway sends
   */
  take(bytes: Uint8Array): Event[];
}

/** One connection that carries events. Nothing is read before it is asked for. */
export class EventConnection<Event> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder: EventDecoder<Event>;
  readonly #drop: () => void;
  readonly opened_at = performance.now();
  readonly headers: Headers;

  /** @param drop breaks the connection */
  constructor(body: ReadableStream<Uint8Array>, headers: Headers, decoder: EventDecoder<Event>, drop: () => void) {
    this.#reader = body.getReader();
    this.headers = headers;
    this.#decoder = decoder;
    this.#drop = drop;
  }

  /**
   * The events of one network read, often none; null at the end. An event that the end cuts short is dropped.
   * @throws {GatewayError} `upstream_unreachable` after `silence_ms` without a byte, or for what no gateway sends
   */
  async read(silence_ms: number): Promise<Event[] | null> {
    let silent = false;
    const timer = setTimeout(() => {
      silent = true;
      this.#drop();
    }, silence_ms);
    try {
      const { done, value } = await this.#reader.read();
      return done ? null : this.#decoder.take(value);
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
}

/** What is thrown when a stream cannot be taken further. */
export function broken(why: string): GatewayError {
  return new GatewayError('upstream_unreachable', `The stream of the gateway ${why}: the connection was given up.`);
}
