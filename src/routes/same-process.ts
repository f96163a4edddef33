import type { SignalRequest, Written } from '../protocol/control.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess, WriteOptions } from '../protocol/exec-process.js';
import type { ProcessInfo } from '../protocol/process.js';
import { quoted } from '../protocol/quoted.js';
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

  async write(bytes: Uint8Array, query: WriteOptions): Promise<Written> {
    await this.#check();
    return this.#processes.write(this.#info.process_id, bytes, query);
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
    if ((await this.#processes.get(process_id)).created_at === created_at) return;
    const detail = `The process ${quoted(process_id)} that this viewer is attached to was purged; another one has its id by now.`;
    throw new GatewayError('process_not_found', detail, { process_id });
  }
}
