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

/** Where there is nothing. */
export const NO_STATS: ProcessStats = {
  running: 0,
  retained: 0,
  started_total: 0,
  exited_total: 0,
  retained_bytes: 0,
  output_bytes_total: 0,
  transcript_bytes: 0,
  transcript_failures_total: 0,
};
