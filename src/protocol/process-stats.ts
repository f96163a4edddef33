/** Counts of the processes of one machine, for its metrics. */
export interface ProcessStats {
  /** Processes that are not closed. */
  running: number;
  /** Closed processes that are still readable. */
  retained: number;
  started_total: number;
  exited_total: number;
  /** Held in memory of both, in bytes: output, and requests of closed ones beyond 4 KiB each. */
  retained_bytes: number;
  output_bytes_total: number;
  /** Transcripts on disk, in bytes; 0 without a data directory. */
  transcript_bytes: number;
  /** Writes of transcripts that failed. */
  transcript_failures_total: number;
}
