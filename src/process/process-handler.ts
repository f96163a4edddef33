import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_RETAIN_BYTES, GatewayError, type ProcessStats, type StartRequest } from '../protocol/index.js';
import { quoted } from '../protocol/quoted.js';
import { ProcessId } from '../protocol/start.js';
import type { StartHow } from './beginning.js';
import { ChangeLog } from './change-log.js';
import { checkDescriptors } from './descriptor-budget.js';
import { endLost, MARK } from './end-lost.js';
import { allServed } from './fair-turn.js';
import { idExists } from './free-its-id.js';
import { HostedProcess, type ProcessHooks } from './hosted-process.js';
import { launchSpec } from './launch-spec.js';
import { anyMoment } from './moments.js';
import { inOrder, PastProcess } from './past-process.js';
import { factsOf } from './process-facts.js';
import { bootId } from './process-stat.js';
import { Retention, type RetentionLimits } from './retention.js';
import { Screens } from './screens.js';
import { checkSize, checkText } from './start-check.js';
import { SpentIds } from './transcript/spent-ids.js';
import type { TranscriptStore } from './transcript/transcript-store.js';
import { uuidV7 } from './uuid-v7.js';

const CAN_BE_ID = new RegExp(ProcessId.pattern as string);

export interface ProcessLimits extends RetentionLimits {
  /** How many processes may be open (not closed) at once. */
  max_processes: number;
  /** Output kept per process unless the start says otherwise, in bytes. */
  retain_bytes: number;
}

/** What holds unless settings say otherwise. */
export const DEFAULT_LIMITS: ProcessLimits = {
  max_processes: 1024,
  retain_bytes: DEFAULT_RETAIN_BYTES,
  retain_closed_ms: 600_000,
  max_closed: 1000,
  max_closed_bytes: 256 * 1024 * 1024,
};

/** Decides on a working directory; none is the gateway's own. */
type ConfineCwd = (cwd: string | undefined) => string | undefined;

/** What can change while processes run. */
export interface HandlerSettings {
  limits: Partial<ProcessLimits>;
  /** The environment that children inherit from. */
  env: NodeJS.ProcessEnv;
  confineCwd?: ConfineCwd | undefined;
}

/** Told whenever a process printed. */
export type OutputTap = (process: HostedProcess) => void;

/** The owner of all processes of this machine: ids, limits, retention, the end. */
export class ProcessHandler implements ProcessHooks {
  readonly limits: ProcessLimits;
  readonly changes = new ChangeLog();
  readonly taps = new Set<OutputTap>();
  readonly screens = new Screens();
  readonly #first_moment = anyMoment();
  /** The number of the latest output event of all processes. */
  moment = this.#first_moment;
  #index = 0;
  readonly #processes = new Map<string, HostedProcess>();
  readonly #launching = new Map<string, Promise<HostedProcess>>();
  readonly #open = new Set<HostedProcess>();
  readonly #spent: SpentIds;
  readonly #retention: Retention;
  readonly #boot_id = bootId();
  /** What children inherit from. */
  readonly #store: TranscriptStore | null;
  #own_env: NodeJS.ProcessEnv = { ...process.env };
  #confineCwd: ConfineCwd;
  #ending: Promise<void> = Promise.resolve();
  #started_total = 0;
  #exited_total = 0;
  #output_bytes_total = 0;
  #draining = false;
  #stopping = false;

  /**
   * @param confineCwd makes the working directory asked for the one to be used, or throws. Default: as it is asked for
   * @param store keeps output on disk. Default: it is in memory alone
   */
  constructor(limits: ProcessLimits, confineCwd: ConfineCwd = (cwd) => cwd, store: TranscriptStore | null = null) {
    this.limits = limits;
    this.#store = store;
    this.#confineCwd = confineCwd;
    this.#spent = store?.spent ?? new SpentIds();
    this.#retention = new Retention(limits, (process) => void this.#remove(process, true));
    if (store) this.#restore(store);
  }

  /** Lets other limits, another base of environments and another rule of working directories hold from now on. */
  configure({ limits, env, confineCwd = (cwd) => cwd }: HandlerSettings): void {
    Object.assign(this.limits, limits);
    this.#own_env = env;
    this.#confineCwd = confineCwd;
  }

  /** Refuses new starts from now on. */
  drain(): void {
    this.#draining = true;
  }

  /** Whether a moment is one of this gateway. */
  toldOf(moment: number): boolean {
    return moment >= this.#first_moment && moment <= this.moment;
  }

  /** Whether the end has begun: long-polls answer at once. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** All processes, oldest first. */
  get processes(): Iterable<HostedProcess> {
    return this.#processes.values();
  }

  /** @throws {GatewayError} `process_not_found` */
  get(process_id: string): HostedProcess {
    const found = this.#processes.get(process_id);
    if (found) return found;
    const why = CAN_BE_ID.test(process_id)
      ? 'it was never started, or it was forgotten after its retention'
      : 'an id is 1 to 128 of A-Z a-z 0-9 . _ : -, but not "." or ".."';
    throw new GatewayError('process_not_found', `There is no process ${quoted(process_id)}: ${why}.`, { process_id });
  }

  /**
   * Starts a process.
   * @throws {GatewayError} what the checks and the launch say; `process_exists`, `too_many_processes`, `shutting_down`
   */
  async start(request: StartRequest, how: StartHow = {}): Promise<{ created: boolean; process: HostedProcess }> {
    const process_id = request.process_id ?? uuidV7();
    const known = this.#processes.get(process_id) ?? this.#launching.get(process_id);
    if (known) return { created: false, process: this.#again(process_id, request, how.once === true, await known) };
    if (this.#spent.has(process_id)) throw idExists(process_id, 'was used before and its record is forgotten, so that it stays spent');
    this.#admit();
    checkText(request);
    const launched = this.#launch(process_id, request, how);
    this.#launching.set(process_id, launched);
    try {
      return { created: true, process: await launched };
    } finally {
      this.#launching.delete(process_id);
    }
  }

  /** Forgets a process at once; its end, if it still runs, goes on. Resolves when nothing of it is on disk. */
  async purge(process: HostedProcess): Promise<void> {
    this.#retention.delete(process);
    await this.#remove(process, false);
  }

  stats(): ProcessStats {
    let retained_bytes = this.#retention.bytes;
    for (const process of this.#open) retained_bytes += process.log.retained_bytes;
    return {
      running: this.#open.size,
      retained: this.#retention.count,
      started_total: this.#started_total,
      exited_total: this.#exited_total,
      retained_bytes,
      output_bytes_total: this.#output_bytes_total,
      transcript_bytes: this.#store?.bytes ?? 0,
      transcript_failures_total: this.#store?.failures ?? 0,
    };
  }

  /** Refuses new starts, wakes whoever waits, ends every process; resolves when all are closed and their followers know. */
  async shutdown(grace_ms: number): Promise<void> {
    this.#stopping = true;
    await Promise.allSettled(this.#launching.values());
    const open = [...this.#open];
    for (const process of this.#processes.values()) process.log.waiters.wake();
    for (const process of open) process.terminate(grace_ms, 'shutdown');
    for (const process of this.#processes.values()) if (!this.#open.has(process)) process.terminate(0, 'shutdown'); // what it left behind
    await Promise.all([...open.map(closed), this.#ending]);
    await allServed();
    await this.#store?.close();
    this.#retention.close();
    this.screens.close();
  }

  changed(change: 'started' | 'exited' | 'closed', process: HostedProcess): void {
    if (change === 'started') {
      this.#started_total++;
      process.index = ++this.#index;
      this.#processes.set(process.process_id, process);
      this.#open.add(process);
    } else if (change === 'exited') {
      this.#exited_total++;
    } else {
      this.#open.delete(process);
      if (this.#known(process)) this.#retention.add(process);
    }
    if (this.#store && this.#known(process)) this.#store.add(process.process_id, factsOf(change, process));
    // A process that was purged is gone for watchers, whatever still happens to it.
    if (this.#known(process)) this.changes.append(() => ({ event: change, process: process.info() }));
  }

  output(process: HostedProcess, bytes: number): void {
    this.#output_bytes_total += bytes;
    process.moments.push(++this.moment, process.log.next_seq - 1);
    // A process that was purged is gone for watchers.
    if (this.taps.size > 0 && this.#known(process)) for (const tap of this.taps) tap(process);
  }

  #known(process: HostedProcess): boolean {
    return this.#processes.get(process.process_id) === process;
  }

  #again(process_id: string, request: StartRequest, once: boolean, process: HostedProcess): HostedProcess {
    if (once && isDeepStrictEqual({ ...request, process_id }, { ...process.request, process_id })) return process;
    const why = once ? 'was started with another request' : process.running ? 'is in use' : 'is that of a process that has ended';
    throw idExists(process_id, `${why}, until DELETE /processes/{process_id}?purge=true ends and forgets it`);
  }

  #admit(): void {
    if (this.#draining || this.#stopping) {
      throw new GatewayError('shutting_down', 'The gateway is shutting down and starts nothing: try another one, or later.');
    }
    const { max_processes } = this.limits;
    if (this.#open.size + this.#launching.size >= max_processes) {
      throw new GatewayError(
        'too_many_processes',
        `${max_processes} processes are open, which is the limit: end one, or raise --max-processes.`,
        {
          limit: max_processes,
        },
      );
    }
    checkDescriptors(this.#open.size);
  }

  async #launch(process_id: string, request: StartRequest, { once = false, wrap, tap }: StartHow): Promise<HostedProcess> {
    const { retain_bytes } = this.limits;
    const asked = launchSpec(request, { env: this.#own_env, cwd: this.#confineCwd(request.cwd), retain_bytes });
    const mark = randomUUID();
    if (this.#store) asked.env[MARK] = mark;
    const spec = wrap ? wrap(asked) : asked;
    if (wrap) checkSize(spec.argv, spec.env);
    const { cwd, tty } = spec;
    const created_at = new Date();
    const facts = { request, created_at: created_at.toISOString(), cwd, tty, mark, boot_id: this.#boot_id };
    const { writer, written } = (await this.#store?.begin(process_id, facts, once)) ?? { writer: null, written: null };
    const process = new HostedProcess({ process_id, request, spec, created_at, retain_bytes, writer }, this);
    process.tap = tap ?? null;
    try {
      await process.start();
      await written;
      return process;
    } catch (error) {
      await this.#store?.remove(process_id);
      throw error;
    }
  }

  /** Takes what an earlier gateway left behind, and ends what still runs of it. */
  #restore(store: TranscriptStore): void {
    const { restored } = store;
    store.restored = [];
    for (const left of restored.toSorted(inOrder)) {
      const process = new PastProcess(left, this.limits.retain_bytes, this);
      this.#index = process.index = left.facts.index ?? this.#index + 1;
      if (left.facts.index === undefined) store.add(process.process_id, { index: process.index });
      process.moments.push(this.moment, process.log.next_seq - 1);
      this.#processes.set(process.process_id, process);
    }
    for (const { process_id, facts } of restored) {
      // A clock that was set back makes nothing older than it is.
      this.#retention.restore(this.get(process_id), Math.max(0, Date.now() - Date.parse(facts.closed_at)));
    }
    this.#ending = endLost(restored.filter(({ lost }) => lost).map(({ facts }) => facts));
  }

  /** @param spend whether its id is never to be used again */
  async #remove(process: HostedProcess, spend: boolean): Promise<void> {
    const { process_id } = process;
    if (!this.#known(process)) return;
    this.#processes.delete(process_id);
    this.screens.forget(process);
    this.changes.append(() => ({ event: 'removed', process_id }));
    if (this.#store) await this.#store.remove(process_id, spend);
    else if (spend) await this.#spent.add(process_id);
  }
}

async function closed(process: HostedProcess): Promise<void> {
  while (process.state !== 'closed') await new Promise<void>((resolve) => process.log.waiters.add({ wake: resolve }));
}
