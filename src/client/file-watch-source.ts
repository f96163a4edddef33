import type { EventSourceMessage } from 'eventsource-parser';
import { GatewayError } from '../protocol/error.js';
import type { FileChange } from '../protocol/file-watch.js';
import { SSE_TYPE } from '../protocol/sse.js';
import { decodeEvent } from './decode-event.js';
import type { EventConnection } from './event-connection.js';
import type { StreamSource } from './lasting-stream.js';
import { SseDecoder } from './sse-decoder.js';
import type { EventForm } from './wire.js';

const NAMES = ['ready', 'created', 'modified', 'removed', 'overflow', 'ended'];

/** Largest event of a watch, in bytes: a path, escaped. */
const MAX_EVENT_BYTES = 1024 * 1024;

/** How a gateway tells the changes in a directory. */
export const FILE_CHANGE_FORMS: EventForm<FileChange>[] = [
  { type: SSE_TYPE, decoder: () => new SseDecoder(decodeChange, MAX_EVENT_BYTES) },
];

/** Connects to what comes after an event; to what comes from now on without one. */
export type OpenAfterId = (after_id: string | undefined, signal: AbortSignal) => Promise<EventConnection<FileChange> | null>;

/** The changes in a directory: the place is the id of the last event told, with which the next connection goes on. */
export class FileWatchSource implements StreamSource<FileChange> {
  readonly #open: OpenAfterId;
  #after_id: string | undefined;
  finished = false;

  constructor(open: OpenAfterId, after_id: string | undefined) {
    this.#open = open;
    this.#after_id = after_id;
  }

  open(signal: AbortSignal): Promise<EventConnection<FileChange> | null> {
    return this.#open(this.#after_id, signal);
  }

  take(changes: FileChange[]): FileChange[] {
    const last = changes.at(-1);
    this.#after_id = last?.id ?? this.#after_id;
    this.finished = last?.event === 'ended';
    return changes;
  }

  isProgress(changes: FileChange[]): boolean {
    return changes.some(({ event }) => event !== 'ready' && event !== 'overflow');
  }
}

function decodeChange(message: EventSourceMessage): FileChange | null {
  const change = decodeEvent<FileChange>(message, NAMES);
  if (change === null) return null;
  if (message.id === undefined) throw new GatewayError('upstream_unreachable', 'An event of a watch came without its id.');
  return { ...change, id: message.id };
}
