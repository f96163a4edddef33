import type { ExecProcess, ExecutorFileSystem } from '../protocol/index.js';
import type { FileHandles } from './file-handles.js';
import type { RequestId } from './message.js';
import type { MissingWatches } from './missing-watches.js';
import type { Outbox } from './outbox.js';
import type { Session } from './session.js';

/** Where the calls of all clients end up. */
export interface Machine {
  readonly process: ExecProcess;
  readonly files: ExecutorFileSystem;
  /** Largest file a call may make, in bytes; null for any. */
  readonly max_file_bytes: number | null;
  /** The environment as clients are told of it. */
  info(): Promise<object>;
}

/** What a call of one connection works on. */
export interface Context {
  readonly machine: Machine;
  readonly outbox: Outbox;
  /** Aborted when the connection is gone. */
  readonly gone: AbortSignal;
  readonly handles: FileHandles;
  readonly watches: MissingWatches;
  session(): Session;
  /** Reads that wait, and requests to elsewhere, under way. */
  polls: number;
  fetches: number;
}

/** A call whose params were read. Without a result it has sent its answer by itself. */
export type Call = (context: Context, id: RequestId) => Promise<object | undefined>;
