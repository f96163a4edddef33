import { bubblewrap, confined } from './process/bubblewrap.js';
import type { ProcessHandler } from './process/process-handler.js';
import { withoutSockets } from './process/sandbox-directory.js';
import type { Started, StartRequest } from './protocol/index.js';
import type { Sandbox, SandboxedFiles, SandboxPolicy } from './protocol/sandbox.js';
import { SandboxedFileCalls } from './sandboxed-file-calls.js';

/** Sandboxes on this machine, made with bubblewrap. */
export class LocalSandbox implements Sandbox {
  readonly #handler: ProcessHandler;
  readonly #fs_root: string;
  readonly #calls = new Set<SandboxedFileCalls>();

  /** @param fs_root the directory that no path of a file leaves, whatever a policy says */
  constructor(handler: ProcessHandler, fs_root: string) {
    this.#handler = handler;
    this.#fs_root = fs_root;
  }

  async start(request: StartRequest, policy: SandboxPolicy): Promise<Started> {
    const programs = await bubblewrap();
    const kept = withoutSockets(policy);
    const { created, process } = await this.#handler.start(request, false, (spec) => confined(spec, kept, programs));
    return { created, process: process.info() };
  }

  files(): SandboxedFiles {
    const calls = new SandboxedFileCalls(this.#fs_root, () => this.#calls.delete(calls));
    this.#calls.add(calls);
    return calls;
  }

  /** Ends what was begun for calls of files. Programs are ended by whoever owns them. */
  async close(): Promise<void> {
    await Promise.all([...this.#calls].map((calls) => calls.close()));
  }
}
