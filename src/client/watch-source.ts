import type { EventSourceMessage } from 'eventsource-parser';
import type { ChangeEvent } from '../protocol/output.js';
import { decodeEvent } from './decode-event.js';
import type { StreamSource } from './lasting-stream.js';
import type { SseConnection } from './sse-connection.js';

const NAMES = ['snapshot', 'started', 'exited', 'closed', 'removed', 'output', 'gap'];

/** The changes of all processes: every connection begins with a snapshot, so there is no place to keep. */
export class WatchSource implements StreamSource<ChangeEvent> {
  readonly open: (signal: AbortSignal) => Promise<SseConnection | null>;
  readonly finished = false;

  constructor(open: (signal: AbortSignal) => Promise<SseConnection | null>) {
    this.open = open;
  }

  take(messages: EventSourceMessage[]): ChangeEvent[] {
    return messages.map((message) => decodeEvent<ChangeEvent>(message, NAMES, true)).filter((event) => event !== null);
  }

  isProgress(events: ChangeEvent[]): boolean {
    return events.some(({ event }) => event !== 'snapshot');
  }
}
