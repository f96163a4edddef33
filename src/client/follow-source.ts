import { GatewayError } from '../protocol/error.js';
import { EVENT_FRAMES_TYPE } from '../protocol/event-frame.js';
import type { FollowQuery } from '../protocol/exec-process.js';
import type { ProcessEvent } from '../protocol/output.js';
import { SSE_TYPE } from '../protocol/sse.js';
import { decodeEvent, PROCESS_EVENTS } from './decode-event.js';
import type { EventConnection } from './event-connection.js';
import { FrameDecoder } from './frame-decoder.js';
import type { StreamSource } from './lasting-stream.js';
import { SseDecoder } from './sse-decoder.js';
import type { EventForm } from './wire.js';

/** Largest event of one process, in bytes: eighty times a chunk. More is no gateway's, and would fill memory. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;

/** How a gateway may tell the events of one process: with bytes as they are, or, if it knows no better, as base64 in text. */
export const PROCESS_EVENT_FORMS: EventForm<ProcessEvent>[] = [
  { type: EVENT_FRAMES_TYPE, decoder: () => new FrameDecoder(MAX_EVENT_BYTES) },
  { type: SSE_TYPE, decoder: () => new SseDecoder((message) => decodeEvent(message, PROCESS_EVENTS), MAX_EVENT_BYTES) },
];

/** Connects to the events after a sequence number. */
export type OpenAfter = (after_seq: number, signal: AbortSignal) => Promise<EventConnection<ProcessEvent> | null>;

/** The events of one process: its place is the last sequence number told, so that nothing is told twice or passed over. */
export class FollowSource implements StreamSource<ProcessEvent> {
  readonly #open: OpenAfter;
  /** With one stream only, the numbers of the others are missing. */
  readonly #filtered: boolean;
  #after_seq: number;
  finished = false;

  constructor(open: OpenAfter, { after_seq = 0, stream }: FollowQuery) {
    this.#open = open;
    this.#after_seq = after_seq;
    this.#filtered = stream !== undefined;
  }

  open(signal: AbortSignal): Promise<EventConnection<ProcessEvent> | null> {
    return this.#open(this.#after_seq, signal);
  }

  take(events: ProcessEvent[]): ProcessEvent[] {
    const fresh: ProcessEvent[] = [];
    let place = this.#after_seq;
    for (const event of events) {
      const [first, last] = event.event === 'gap' ? [event.from_seq, event.to_seq] : [event.seq, event.seq];
      if (last <= place) continue;
      if (first > place + 1 && !this.#filtered) throw hole(place, first);
      place = last;
      fresh.push(event);
    }
    this.#after_seq = place; // not before: what is thrown away is read again
    this.finished = fresh.at(-1)?.event === 'closed';
    return fresh;
  }

  isProgress(events: ProcessEvent[]): boolean {
    return events.length > 0;
  }
}

function hole(place: number, next: number): GatewayError {
  return new GatewayError('upstream_unreachable', `The stream goes on at ${next} after ${place}: something on the way dropped events.`);
}
