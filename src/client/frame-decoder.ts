import type { OutputEvent, ProcessEvent } from '../protocol/output.js';
import { concat } from './concat.js';
import { fromWire, PROCESS_EVENTS } from './decode-event.js';
import { broken, type EventDecoder } from './event-connection.js';

const LF = 0x0a;

/** Longest line ahead of an event, in bytes: forty times what there is to say. */
const MAX_LINE_BYTES = 8 * 1024;

const NOTHING = new Uint8Array(0);

/** The events of a process as `EVENT_FRAMES_TYPE` carries them. Each chunk has memory of its own. */
export class FrameDecoder implements EventDecoder<ProcessEvent> {
  readonly #max_chunk_bytes: number;
  readonly #text = new TextDecoder();
  #events: ProcessEvent[] = [];
  /** A line whose end did not come yet. */
  #line: Uint8Array = NOTHING;
  /** The output whose bytes are on their way. */
  #output: OutputEvent | null = null;
  #filled = 0;

  /** @param max_chunk_bytes the largest chunk; a larger one breaks the connection */
  constructor(max_chunk_bytes: number) {
    this.#max_chunk_bytes = max_chunk_bytes;
  }

  take(bytes: Uint8Array): ProcessEvent[] {
    this.#events = [];
    let rest = bytes;
    while (rest.length > 0) rest = this.#output ? this.#fill(this.#output, rest) : this.#takeLine(rest);
    return this.#events;
  }

  /** @returns what comes after the line */
  #takeLine(bytes: Uint8Array): Uint8Array {
    const end = bytes.indexOf(LF);
    const part = bytes.subarray(0, end === -1 ? bytes.length : end);
    const line = this.#line.length === 0 ? part : concat([this.#line, part]);
    if (line.length > MAX_LINE_BYTES) throw broken(`sent a line of more than ${MAX_LINE_BYTES} bytes`);
    this.#line = end === -1 ? line : NOTHING;
    if (end === -1) return NOTHING;
    if (line.length > 0) this.#begin(this.#text.decode(line)); // an empty one is a heartbeat
    return bytes.subarray(end + 1);
  }

  #begin(line: string): void {
    const fields = fromWire('A line of the stream', () => JSON.parse(line));
    if (fields?.event === 'output') this.#output = this.#emptyOutput(fields);
    else if (PROCESS_EVENTS.includes(fields?.event)) this.#events.push(fields);
  }

  #emptyOutput({ bytes, ...fields }: Omit<OutputEvent, 'chunk'> & { bytes: number }): OutputEvent {
    if (!Number.isInteger(bytes) || bytes < 1 || bytes > this.#max_chunk_bytes) throw broken(`sent a chunk of ${bytes} bytes`);
    return { ...fields, chunk: new Uint8Array(bytes) };
  }

  /** @returns what comes after the output */
  #fill(output: OutputEvent, bytes: Uint8Array): Uint8Array {
    const part = bytes.subarray(0, output.chunk.length - this.#filled);
    output.chunk.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled === output.chunk.length) {
      this.#events.push(output);
      this.#output = null;
      this.#filled = 0;
    }
    return bytes.subarray(part.length);
  }
}
