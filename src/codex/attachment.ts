import type { Outbox } from './outbox.js';

/** A connection, as the parts of a session see it. */
export interface Attachment {
  readonly outbox: Outbox;
  /** Aborted when the connection is gone. */
  readonly gone: AbortSignal;
  /** Ends the connection; the client comes back and finds out. */
  drop(reason: string): void;
  /** Asks whether the other side is there, and ends the connection when it says nothing. */
  probe(): void;
}
