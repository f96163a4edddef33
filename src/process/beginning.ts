import type { StartRequest } from '../protocol/index.js';
import type { LaunchSpec } from './child.js';
import type { TranscriptWriter } from './transcript/transcript-writer.js';

/** What a process begins with. */
export interface Beginning {
  process_id: string;
  request: StartRequest;
  spec: LaunchSpec;
  /** Output to keep in memory unless the request says otherwise, in bytes. */
  retain_bytes: number;
  /** Keeps output on disk too; null for memory alone. */
  writer: TranscriptWriter | null;
}
