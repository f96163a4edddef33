import type { ExecutorFileSystem } from '../protocol/index.js';
import type { SandboxedFiles } from '../protocol/sandbox.js';
import type { FileHandles } from './file-handles.js';
import type { FileAccess, Machine } from './machine.js';
import type { RequestId } from './message.js';
import type { MissingWatches } from './missing-watches.js';
import type { Outbox } from './outbox.js';
import type { Session } from './session.js';

/** What a call of one connection works on. */
export interface Context {
  readonly machine: Machine;
  /** What calls of files work on: what the machine has, or what a sandbox leaves of it. */
  readonly files: ExecutorFileSystem;
  /** The same for calls that go on later. */
  readonly access: FileAccess;
  /** Calls of files that are kept to policies; null where nothing can keep them. */
  readonly sandboxed: SandboxedFiles | null;
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
