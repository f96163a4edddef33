import type { StartRequest, Stream } from '../protocol/index.js';
import type { LaunchSpec } from './child.js';
import type { TranscriptWriter } from './transcript/transcript-writer.js';

/** What a process begins with. */
export interface Beginning {
  process_id: string;
  request: StartRequest;
  spec: LaunchSpec;
  /** The same wherever it is told: it also says whether a process is the one that had the id before. */
  created_at: Date;
  /** Output to keep in memory unless the request says otherwise, in bytes. */
  retain_bytes: number;
  /** Keeps output on disk too; null for memory alone. */
  writer: TranscriptWriter | null;
}

/** How a process is to be started. */
export interface StartHow {
  /** A repeated start finds the process of the first. Default false. */
  once?: boolean;
  /** Makes the launch that is wanted of the one that was asked for, or throws; the latter is shown all the same. */
  wrap?: (spec: LaunchSpec) => LaunchSpec;
  /** Told all output, from the first on. */
  tap?: (stream: Stream, chunk: Uint8Array) => void;
}
