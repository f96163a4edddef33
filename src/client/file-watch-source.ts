import type { EventSourceMessage } from 'eventsource-parser';
import { GatewayError } from '../protocol/error.js';
import type { FileChange } from '../protocol/file-watch.js';
import { decodeEvent } from './decode-event.js';
import type { StreamSource } from './lasting-stream.js';
import type { SseConnection } from './sse-connection.js';

const NAMES = ['ready', 'created', 'modified', 'removed', 'overflow', 'ended'];

/** Connects to what comes after an event; to what comes from now on without one. */
export type OpenAfterId = (after_id: string | undefined, signal: AbortSignal) => Promise<SseConnection | null>;

/** The changes in a directory: the place is the id of the last event told, with which the next connection goes on. */
export class FileWatchSource implements StreamSource<FileChange> {
  readonly #open: OpenAfterId;
  #after_id: string | undefined;
  finished = false;

  constructor(open: OpenAfterId, after_id: string | undefined) {
    this.#open = open;
    this.#after_id = after_id;
  }

  open(signal: AbortSignal): Promise<SseConnection | null> {
    return this.#open(this.#after_id, signal);
  }

  take(messages: EventSourceMessage[]): FileChange[] {
    const changes: FileChange[] = [];
    for (const message of messages) {
      const change = decodeEvent<FileChange>(message, NAMES);
      if (change === null) continue;
      if (message.id === undefined) throw new GatewayError('upstream_unreachable', 'An event of a watch came without its id.');
      changes.push({ ...change, id: message.id });
    }
    const last = changes.at(-1);
    this.#after_id = last?.id ?? this.#after_id;
    this.finished = last?.event === 'ended';
    return changes;
  }

  isProgress(changes: FileChange[]): boolean {
    return changes.some(({ event }) => event !== 'ready' && event !== 'overflow');
  }
}
