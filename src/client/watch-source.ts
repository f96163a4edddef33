import { seqOf } from '../protocol/event-seq.js';
import type { ChangeEvent } from '../protocol/output.js';
import { SSE_TYPE } from '../protocol/sse.js';
import { decodeEvent } from './decode-event.js';
import type { EventConnection } from './event-connection.js';
import type { StreamSource } from './lasting-stream.js';
import { SseDecoder } from './sse-decoder.js';
import type { EventForm } from './wire.js';

const NAMES = ['snapshot', 'started', 'exited', 'closed', 'removed', 'output', 'gap'];

/** Largest event of all processes, in bytes: the snapshot holds each `argv` of thousands. */
const MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024;

/** How a gateway tells the changes of all processes. */
export const CHANGE_FORMS: EventForm<ChangeEvent>[] = [
  { type: SSE_TYPE, decoder: () => new SseDecoder((message) => decodeEvent(message, NAMES, true), MAX_SNAPSHOT_BYTES) },
];

/** Connects; with the id of the last event seen, if any. */
export type OpenAfterId = (after_id: number | undefined, signal: AbortSignal) => Promise<EventConnection<ChangeEvent> | null>;

/** The changes of all processes: every connection begins with a snapshot, and output goes on where it was. */
export class WatchSource implements StreamSource<ChangeEvent> {
  readonly #open: OpenAfterId;
  #after_id: number | undefined;
  /** Output told so far, by process: what comes again after a broken connection is passed over. */
  readonly #told = new Map<string, number>();
  readonly finished = false;

  constructor(open: OpenAfterId, after_id?: number) {
    this.#open = open;
    this.#after_id = after_id;
  }

  open(signal: AbortSignal): Promise<EventConnection<ChangeEvent> | null> {
    return this.#open(this.#after_id, signal);
  }

  take(events: ChangeEvent[]): ChangeEvent[] {
    this.#after_id = events.at(-1)?.id ?? this.#after_id; // not before: what is thrown away is asked for again
    return events.filter((event) => this.#isNew(event));
  }

  isProgress(events: ChangeEvent[]): boolean {
    return events.some(({ event }) => event !== 'snapshot');
  }

  #isNew(change: ChangeEvent): boolean {
    if (change.event === 'started') this.#told.delete(change.process.process_id);
    else if (change.event === 'removed') this.#told.delete(change.process_id);
    if (change.event !== 'output' && change.event !== 'gap') return true;
    const last = seqOf(change);
    if (last <= (this.#told.get(change.process_id) ?? 0)) return false;
    this.#told.set(change.process_id, last);
    return true;
  }
}
