import type { ProcessStats } from '../protocol/process-stats.js';

/** What the front asks of the program around it: readiness, counts, and when to let go. */
export interface Probes {
  /** Resolves when what runs the processes takes work; else rejects with the `GatewayError` to answer. */
  ready(): Promise<void>;
  stats(): ProcessStats | Promise<ProcessStats>;
  /** True from the first moment of a shutdown: new requests are refused. */
  shutting_down(): boolean;
  /** Aborted when long-polls have to be answered now. */
  stopping: AbortSignal;
  /** Aborted when streams have to end now. */
  streamsEnd: AbortSignal;
}
