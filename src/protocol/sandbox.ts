import type { Started } from './exec-process.js';
import type { ExecutorFileSystem } from './file-system.js';
import type { StartRequest } from './start.js';

/** What may be done below one path. The most specific rule holds; of two for the same path deny, then write. */
export interface SandboxRule {
  /** An absolute path of this machine. */
  path: string;
  access: 'read' | 'write' | 'deny';
  /** Whether the rule is void while nothing is at the path. Else one that cannot be kept is refused. */
  skip_missing: boolean;
}

/** What a sandbox allows. Where no rule is, nothing can be seen. */
export interface SandboxPolicy {
  rules: SandboxRule[];
  /** Whether there is a network. */
  network: boolean;
}

/** Calls of files that are kept to policies, for one who makes many of them. */
export interface SandboxedFiles {
  /**
   * Lets `act` work on files under a policy, and resolves with what it gives. The files are good until then.
   * @throws {SandboxRefusal}
   */
  use<T>(policy: SandboxPolicy, act: (files: ExecutorFileSystem) => Promise<T>): Promise<T>;
  /** Ends everything that was begun for it; resolves when it is over. */
  close(): Promise<void>;
}

/** What keeps programs and calls of files to a policy, on this machine. */
export interface Sandbox {
  /**
   * Starts a program that is kept to a policy, with all that it starts.
   * @throws {SandboxRefusal} for a policy that cannot be kept; then nothing was started
   * @throws {GatewayError} as any start
   */
  start(request: StartRequest, policy: SandboxPolicy): Promise<Started>;
  files(): SandboxedFiles;
}

/** A policy that cannot be kept: nothing was done. The message says what is missing, or which rule it is. */
export class SandboxRefusal extends Error {
  override readonly name = 'SandboxRefusal';
}
