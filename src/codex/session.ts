import type { ProcessInfo, StartRequest } from '../protocol/index.js';
import type { Attachment } from './attachment.js';
import type { Machine } from './machine.js';
import { invalidRequest } from './rpc-error.js';
import { cannotEnforce } from './sandbox-members.js';
import { SessionProcess, unknownProcess } from './session-process.js';
import type { StartParams } from './start-params.js';

/** Processes of one session that are known, ended ones among them. */
const MOST_PROCESSES = 10_000;

/** Length of what a label can hold, in characters. */
const LABEL_CHARACTERS = 1024;

/** The answer to `process/start`. */
export interface StartResult {
  processId: string;
  /** In the words of the protocol: what it calls so is bubblewrap too. */
  sandboxType: 'none' | 'linuxSeccomp';
}

const idStart = (session: string) => `codex-${session}-`;

/** The session that a process was started in; null for one that was started otherwise. */
export function sessionOf({ process_id, labels: { codex_session: session } }: ProcessInfo): string | null {
  return session !== undefined && process_id.startsWith(idStart(session)) ? session : null;
}

/** The processes of one client, over all its connections. */
export class Session {
  readonly id: string;
  readonly #machine: Machine;
  readonly #linger_ms: number;
  readonly #processes = new Map<string, SessionProcess>();
  #started = 0;
  #attachment: Attachment | null = null;
  #expiry: NodeJS.Timeout | null = null;
  readonly #ended: () => void;

  /**
   * @param linger_ms how long it lives without a connection, and an ended process in it
   * @param ended called when it is over
   */
  constructor(id: string, machine: Machine, linger_ms: number, ended: () => void) {
    this.id = id;
    this.#machine = machine;
    this.#linger_ms = linger_ms;
    this.#ended = ended;
  }

  get attachment(): Attachment | null {
    return this.#attachment;
  }

  /** Whether it holds nothing that anyone could come back for. */
  get idle(): boolean {
    return this.#attachment === null && [...this.#processes.values()].every(({ closed_at }) => closed_at !== null);
  }

  /** Makes a connection the one that is told; processes that run are told of from now on. */
  attach(attachment: Attachment): void {
    if (this.#expiry) clearTimeout(this.#expiry);
    this.#expiry = null;
    this.#attachment = attachment;
    for (const process of this.#processes.values()) this.#push(process, null);
  }

  /** The connection is gone: processes run on, and wait for nobody. Without another one the session ends after a while. */
  detach(): void {
    this.#attachment = null;
    this.#expiry = setTimeout(() => void this.end(), this.#linger_ms).unref(); // no reason for a gateway to stay
  }

  /** Ends all its processes at once. */
  async end(): Promise<void> {
    if (this.#expiry) clearTimeout(this.#expiry);
    this.#ended();
    const processes = [...this.#processes.values()];
    this.#processes.clear();
    await Promise.all(processes.map((process) => process.terminate().catch(() => {})));
  }

  /** Lets go of the timer. The processes are ended by whoever owns them. */
  forget(): void {
    if (this.#expiry) clearTimeout(this.#expiry);
  }

  /**
   * Starts a process, and tells of it once the start was answered.
   * @throws {RpcError}
   */
  async start({ processId, request, confinement }: StartParams): Promise<StartResult> {
    const policy = confinement();
    const { process: executor, sandbox } = this.#machine;
    if (policy !== null && sandbox === null) throw cannotEnforce();
    const start = (asked: StartRequest) => (policy && sandbox ? sandbox.start(asked, policy) : executor.start(asked));
    this.#sweep();
    if (this.#processes.has(processId)) throw invalidRequest(`process ${processId} already exists`);
    if (this.#processes.size >= MOST_PROCESSES) throw invalidRequest(`the session has ${MOST_PROCESSES} processes, which is the limit`);
    const process = new SessionProcess(executor, processId, start, {
      ...request,
      process_id: `${idStart(this.id)}${++this.#started}`,
      labels: { codex_session: this.id, codex_process: processId.slice(0, LABEL_CHARACTERS) },
    });
    this.#processes.set(processId, process);
    try {
      await process.started;
    } catch (error) {
      if (this.#processes.get(processId) === process) this.#processes.delete(processId);
      throw error;
    }
    if (this.#processes.get(processId) !== process) await process.terminate(); // the session ended meanwhile
    setImmediate(() => this.#push(process, 0));
    return { processId, sandboxType: policy ? 'linuxSeccomp' : 'none' };
  }

  /** @throws {RpcError} for a process that is not known */
  get(processId: string): SessionProcess {
    const found = this.find(processId);
    if (found) return found;
    throw unknownProcess(processId);
  }

  find(processId: string): SessionProcess | undefined {
    return this.#processes.get(processId);
  }

  #push(process: SessionProcess, after_seq: number | null): void {
    const attachment = this.#attachment;
    if (attachment === null) return;
    process.push(attachment, after_seq).catch(() => {}); // it was not started, and its caller knows
  }

  /** Forgets processes that ended long ago: their names are free again. */
  #sweep(): void {
    const before = performance.now() - this.#linger_ms;
    for (const [name, { closed_at }] of this.#processes) {
      if (closed_at !== null && closed_at < before) this.#processes.delete(name);
    }
  }
}
