import type { ExecProcess, ExecutorFileSystem } from '../protocol/index.js';
import type { Sandbox } from '../protocol/sandbox.js';

/** Where the calls of all clients end up. */
export interface Machine {
  readonly process: ExecProcess;
  readonly files: ExecutorFileSystem;
  /** Whether they are behind another gateway. */
  readonly elsewhere: boolean;
  /** What keeps programs and calls of files to a policy; null where nothing can. */
  readonly sandbox: Sandbox | null;
  /** Largest file a call may make, in bytes; null for any. */
  readonly max_file_bytes: number | null;
  /** The environment as clients are told of it. */
  info(): Promise<object>;
}

/** Lets `act` work on files, and resolves with what it gives: those of the machine, or of a sandbox. */
export type FileAccess = <T>(act: (files: ExecutorFileSystem) => Promise<T>) => Promise<T>;
