import type { EventSourceMessage } from 'eventsource-parser';
import { GatewayError } from '../protocol/error.js';
import type { FollowQuery } from '../protocol/exec-process.js';
import type { ProcessEvent } from '../protocol/output.js';
import { decodeEvent } from './decode-event.js';
import type { StreamSource } from './lasting-stream.js';
import type { SseConnection } from './sse-connection.js';

const NAMES = ['output', 'exited', 'closed', 'gap'];

/** Connects to the events after a sequence number. */
export type OpenAfter = (after_seq: number, signal: AbortSignal) => Promise<SseConnection | null>;

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

  open(signal: AbortSignal): Promise<SseConnection | null> {
    return this.#open(this.#after_seq, signal);
  }

  take(messages: EventSourceMessage[]): ProcessEvent[] {
    const fresh: ProcessEvent[] = [];
    let place = this.#after_seq;
    for (const message of messages) {
      const event = decodeEvent<ProcessEvent>(message, NAMES);
      if (event === null) continue;
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
