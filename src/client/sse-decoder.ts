import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import { broken, type EventDecoder } from './event-connection.js';
import { WholeLines } from './whole-lines.js';

const CR = '\r';
const LF = '\n';

/** Server-sent events. */
export class SseDecoder<Event> implements EventDecoder<Event> {
  readonly #decode: (message: EventSourceMessage) => Event | null;
  readonly #max_event_bytes: number;
  readonly #lines = new WholeLines();
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #messages: EventSourceMessage[] = [];
  #after_cr = false;

  /**
   * @param decode null for what is passed over
   * @param max_event_bytes the largest event; a longer one breaks the connection
   */
  constructor(decode: (message: EventSourceMessage) => Event | null, max_event_bytes: number) {
    this.#decode = decode;
    this.#max_event_bytes = max_event_bytes;
    this.#parser = createParser({
      onEvent: (message) => this.#messages.push(message),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') throw this.#tooLarge();
      },
      maxBufferSize: max_event_bytes,
    });
  }

  take(bytes: Uint8Array): Event[] {
    this.#messages = [];
    // The parser takes several times as long over lines that come in pieces.
    this.#feed(this.#decoder.decode(this.#lines.take(bytes)));
    if (this.#lines.held_bytes > this.#max_event_bytes) throw this.#tooLarge();
    return this.#messages.map(this.#decode).filter((event) => event !== null);
  }

  #feed(lines: string): void {
    // The parser waits after a CR for the LF that may follow. The line has ended already: say so, and pass over that LF.
    const text = this.#after_cr && lines.startsWith(LF) ? lines.slice(1) : lines;
    if (lines !== '') this.#after_cr = text.endsWith(CR);
    if (text !== '') this.#parser.feed(this.#after_cr ? text + LF : text);
  }

  #tooLarge(): Error {
    return broken(`sent an event of more than ${this.#max_event_bytes} bytes`);
  }
}
