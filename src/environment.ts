import { attempt } from './client/attempt.js';
import { RemoteExecProcess } from './client/remote-exec-process.js';
import { RemoteFileSystem } from './client/remote-file-system.js';
import { confinedCwd } from './fs/confined-cwd.js';
import { LocalFileSystem } from './fs/local-file-system.js';
import type { HostLink } from './host/host-link.js';
import { HostedExecProcess } from './host/hosted-exec-process.js';
import type { HostSettings } from './host/words.js';
import { LocalSandbox, type StartSandboxed, sandboxedStart } from './local-sandbox.js';
import { LocalExecProcess } from './process/local-exec-process.js';
import { DEFAULT_LIMITS, ProcessHandler, type ProcessLimits } from './process/process-handler.js';
import {
  DEFAULT_TRANSCRIPT_LIMITS,
  MIN_TRANSCRIPT_BYTES,
  type TellTrouble,
  type TranscriptLimits,
  TranscriptStore,
} from './process/transcript/transcript-store.js';
import { type ExecProcess, type ExecutorFileSystem, GatewayError, type ProcessStats } from './protocol/index.js';
import { NO_STATS } from './protocol/process-stats.js';
import type { Sandbox } from './protocol/sandbox.js';

export { DEFAULT_LIMITS, DEFAULT_TRANSCRIPT_LIMITS, MIN_TRANSCRIPT_BYTES, type ProcessLimits, type TellTrouble, type TranscriptLimits };

/** Where an environment is, and within which limits. */
export interface EnvironmentOptions {
  /** The gateway that runs the processes and holds the files. Default: none, they are here. */
  url?: string | undefined;
  /** The token of that gateway. */
  token?: string | undefined;
  /** Limits of processes that run here. */
  limits?: Partial<ProcessLimits> | undefined;
  /** The directory that no path of a file here leaves. Default `/`. */
  fs_root?: string | undefined;
  /** Whether the working directories of processes here obey it too. Default false. With a host it is the host's affair. */
  confine_cwd?: boolean | undefined;
  /** The directory that keeps what is to outlive this program; nobody else may have it open. Default: none, all is in memory. */
  data_dir?: string | undefined;
  /** How much output it keeps. */
  transcripts?: Partial<TranscriptLimits> | undefined;
  /** Told when nothing can be written to it any more, and when it can again. Default: nobody. */
  tellTrouble?: TellTrouble | undefined;
  /** The host on this machine that runs the processes; it outlives the environment. Default: none, they are in this program. */
  host?: HostLink | undefined;
  /** Directories of the gateway that nothing in a sandbox may see. */
  hide?: string[] | undefined;
}

/** What there is where nothing is behind another gateway. */
interface Here {
  files: LocalFileSystem;
  sandbox: LocalSandbox;
}

/** Who owns the processes of this machine. */
type Owner = ProcessHandler | HostedExecProcess;

/** Time that calls which change files are given to end by themselves at the end, in milliseconds, when the grace is no shorter. */
const FILE_CALLS_MS = 500;

/** Time that a gateway behind is given to answer whether it is ready, in milliseconds: below the 1 s of common probes. */
const READY_MS = 900;

/** A refusal of this gateway by the one behind is not the caller's fault, and must not be told as if it were. */
const fetchUpstream: typeof fetch = async (input, init) => {
  const reply = await fetch(input, init);
  if (reply.status !== 401 && reply.status !== 421) return reply;
  await reply.body?.cancel();
  throw new Error(
    reply.status === 401 ? 'it refuses the token given by --upstream-token-file' : 'it does not answer to this name (its --allow-host)',
  );
};

/**
 * A place where processes run and files are: this machine, or the one behind a gateway. Whoever asks it for `process` or
 * `files` never knows which.
 */
export class Environment {
  readonly process: ExecProcess;
  readonly files: ExecutorFileSystem;
  /** What keeps programs and calls of files to a policy; null where all is behind another gateway. */
  readonly sandbox: Sandbox | null;
  readonly #here: Here | null;
  readonly #owner: Owner | null;
  #asked: Promise<void> | null = null;

  private constructor(process: ExecProcess, files: ExecutorFileSystem, here: Here | null, owner: Owner | null) {
    this.process = process;
    this.files = files;
    this.#here = here;
    this.#owner = owner;
    this.sandbox = here?.sandbox ?? null;
  }

  /**
   * With a URL all is behind that gateway; with a host the processes are there and the files here; without both all is in this program.
   * @throws {GatewayError} for a `fs_root` that is no directory, or a `data_dir` that cannot be used
   */
  static create(options: EnvironmentOptions = {}): Environment {
    const { url, token, limits, fs_root, confine_cwd = false, host, hide = [] } = options;
    if (url !== undefined) {
      const upstream = { url, token, fetch: fetchUpstream };
      return new Environment(new RemoteExecProcess(upstream), new RemoteFileSystem(upstream), null, null);
    }
    const files = new LocalFileSystem({ root: fs_root });
    const here = (start: StartSandboxed): Here => ({ files, sandbox: new LocalSandbox(start, files.root.path, hide) });
    if (host !== undefined) {
      const hosted = new HostedExecProcess(host);
      return new Environment(
        hosted,
        files,
        here((...asked) => hosted.startSandboxed(...asked)),
        hosted,
      );
    }
    const confine = confine_cwd ? confinedCwd(files.root) : undefined;
    const handler = new ProcessHandler({ ...DEFAULT_LIMITS, ...limits }, confine, openStore(options));
    return new Environment(new LocalExecProcess(handler), files, here(sandboxedStart(handler, hide)), handler);
  }

  /** Whether all of it is behind another gateway. */
  get elsewhere(): boolean {
    return this.#here === null;
  }

  /** Whether its processes go on when this program ends. */
  get outlived(): boolean {
    return !(this.#owner instanceof ProcessHandler);
  }

  /** What runs and is kept here; zero for what runs elsewhere. */
  async stats(): Promise<ProcessStats> {
    return this.#owner?.stats() ?? NO_STATS;
  }

  /** Lets settings hold for processes of this program from now on. */
  configure({ limits, env, cwd_root }: HostSettings): void {
    if (!(this.#owner instanceof ProcessHandler)) return;
    this.#owner.configure({ limits, env, confineCwd: cwd_root === null ? undefined : confinedCwd({ path: cwd_root }) });
  }

  /** Refuses to start processes in this program from now on. */
  drain(): void {
    if (this.#owner instanceof ProcessHandler) this.#owner.drain();
  }

  /**
   * Resolves when processes can be reached: at once in this program, else when whoever has them has answered a call like any other,
   * within 0.9 s. Whoever asks meanwhile gets the same answer.
   * @throws {GatewayError} `not_ready`
   */
  ready(): Promise<void> {
    if (!this.outlived) return Promise.resolve();
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = null;
    });
    return this.#asked;
  }

  async #ask(): Promise<void> {
    try {
      await attempt((signal) => this.process.list({ state: 'starting', limit: 1 }, { signal }), READY_MS);
    } catch (cause) {
      // Anyone may ask for readiness: where the gateway behind is, and what it said, is not for all.
      const detail = 'The gateway behind this one does not answer as it should: try again, or see what a call of your own says.';
      throw new GatewayError('not_ready', detail, { retry_after_ms: 1000 }, { cause });
    }
  }

  /**
   * Answers whoever waits and ends what runs here: SIGTERM, then SIGKILL after `grace_ms` (default 2000); calls that change files
   * are aborted after 0.5 s of it and take away what is not whole. Processes behind another gateway or in a host are left alone. Resolves
   * when all are closed.
   */
  async close(grace_ms = 2_000): Promise<void> {
    await Promise.all([
      this.#here?.files.close(Math.min(grace_ms, FILE_CALLS_MS)),
      this.#owner instanceof ProcessHandler ? this.#owner.shutdown(grace_ms) : undefined,
      this.#here?.sandbox.close(),
    ]);
  }
}

/** @throws {GatewayError} when the directory cannot be used */
function openStore({ data_dir, transcripts, tellTrouble = () => {} }: EnvironmentOptions): TranscriptStore | null {
  return data_dir === undefined ? null : TranscriptStore.open(data_dir, { ...DEFAULT_TRANSCRIPT_LIMITS, ...transcripts }, tellTrouble);
}
