import { bubblewrap, confined } from './process/bubblewrap.js';
import type { ProcessHandler } from './process/process-handler.js';
import { withoutSockets } from './process/sandbox-directory.js';
import type { Started, StartRequest } from './protocol/index.js';
import type { Sandbox, SandboxedFiles, SandboxPolicy } from './protocol/sandbox.js';
import { SandboxedFileCalls } from './sandboxed-file-calls.js';

/** Starts a program under a policy. */
export type StartSandboxed = (request: StartRequest, policy: SandboxPolicy) => Promise<Started>;

/**
 * Starts programs in sandboxes, as processes of a handler.
 * @param hide directories of the gateway that no program in a sandbox may see, whatever its policy says
 */
export function sandboxedStart(handler: ProcessHandler, hide: readonly string[]): StartSandboxed {
  return async (request, policy) => {
    const programs = await bubblewrap();
    const kept = withoutSockets(policy, hide);
    const { created, process } = await handler.start(request, { wrap: (spec) => confined(spec, kept, programs) });
    return { created, process: process.info() };
  };
}

/** Sandboxes on this machine, made with bubblewrap. */
export class LocalSandbox implements Sandbox {
  readonly start: StartSandboxed;
  readonly #fs_root: string;
  readonly #hide: readonly string[];
  readonly #calls = new Set<SandboxedFileCalls>();

  /**
   * @param start starts programs, here or in the host
   * @param fs_root the directory that no path of a file leaves, whatever a policy says
   * @param hide directories of the gateway that no call of files may see
   */
  constructor(start: StartSandboxed, fs_root: string, hide: readonly string[]) {
    this.start = start;
    this.#fs_root = fs_root;
    this.#hide = hide;
  }

  files(): SandboxedFiles {
    const calls = new SandboxedFileCalls(this.#fs_root, this.#hide, () => this.#calls.delete(calls));
    this.#calls.add(calls);
    return calls;
  }

  /** Ends what was begun for calls of files. Programs are ended by whoever owns them. */
  async close(): Promise<void> {
    await Promise.all([...this.#calls].map((calls) => calls.close()));
  }
}
