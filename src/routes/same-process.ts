import { checkCreatedAt } from '../protocol/check-created-at.js';
import type { SignalRequest, Written } from '../protocol/control.js';
import type { ExecProcess, WriteOptions } from '../protocol/exec-process.js';
import type { ProcessInfo } from '../protocol/process.js';
import type { TtySize } from '../protocol/start.js';

/**
 * Acts on one process, and never on a later one under its id: `purge` frees the id at once, and whoever is attached may not
 * know yet. All calls reject with `process_not_found` then.
 */
export class SameProcess {
  readonly #processes: ExecProcess;
  readonly #info: ProcessInfo;

  constructor(processes: ExecProcess, info: ProcessInfo) {
    this.#processes = processes;
    this.#info = info;
  }

  write(bytes: Uint8Array, query: WriteOptions): Promise<Written> {
    const { process_id, created_at } = this.#info;
    return this.#processes.write(process_id, bytes, { ...query, created_at });
  }

  async signal(request: SignalRequest): Promise<void> {
    await this.#check();
    return this.#processes.signal(this.#info.process_id, request);
  }

  async resize(size: TtySize): Promise<void> {
    await this.#check();
    return this.#processes.resize(this.#info.process_id, size);
  }

  /** On this machine nothing comes between the check and the call; behind a gateway, as little as its answer takes. */
  async #check(): Promise<void> {
    const { process_id, created_at } = this.#info;
    checkCreatedAt(process_id, (await this.#processes.get(process_id)).created_at, created_at);
  }
}
