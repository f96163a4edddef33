/** Counts of the process core, for the metrics. */
export interface ProcessStats {
  /** Processes that have not exited. */
  running: number;
  /** Processes that are over and still readable. */
  retained: number;
  started_total: number;
  exited_total: number;
  /** Output held in memory, in bytes. */
  retained_bytes: number;
  output_bytes_total: number;
}

/** What the front asks of the program around it: readiness, counts, and when to let go. */
export interface Probes {
  /** Whether new work is accepted. */
  ready(): boolean;
  stats(): ProcessStats;
  /** True from the first moment of a shutdown: new requests are refused. */
  shutting_down(): boolean;
  /** Aborted when long-polls have to be answered now. */
  stopping: AbortSignal;
  /** Aborted when streams have to end now. */
  streamsEnd: AbortSignal;
}
