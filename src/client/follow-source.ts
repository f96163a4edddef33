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
    return messages
      .map((message) => decodeEvent<ProcessEvent>(message, NAMES))
      .filter((event) => event !== null && this.#isNew(event)) as ProcessEvent[];
  }

  isProgress(events: ProcessEvent[]): boolean {
    return events.length > 0;
  }

  #isNew(event: ProcessEvent): boolean {
    const [first, last] = event.event === 'gap' ? [event.from_seq, event.to_seq] : [event.seq, event.seq];
    if (last <= this.#after_seq) return false;
    if (first > this.#after_seq + 1 && !this.#filtered) {
      throw new GatewayError(
        'upstream_unreachable',
        `The stream goes on at ${first} after ${this.#after_seq}: something between dropped events.`,
      );
    }
    this.#after_seq = last;
    this.finished = event.event === 'closed';
    return true;
  }
}
