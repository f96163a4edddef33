import { attempt } from './client/attempt.js';
import { RemoteExecProcess } from './client/remote-exec-process.js';
import { RemoteFileSystem } from './client/remote-file-system.js';
import { confinedCwd } from './fs/confined-cwd.js';
import { LocalFileSystem } from './fs/local-file-system.js';
import { LocalSandbox } from './local-sandbox.js';
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
  /** Whether the working directories of processes here obey it too. Default false. */
  confine_cwd?: boolean | undefined;
  /** The directory that keeps what is to outlive this program; nobody else may have it open. Default: none, all is in memory. */
  data_dir?: string | undefined;
  /** How much output it keeps. */
  transcripts?: Partial<TranscriptLimits> | undefined;
  /** Told when nothing can be written to it any more, and when it can again. Default: nobody. */
  tellTrouble?: TellTrouble | undefined;
}

/** What there is where nothing is behind another gateway. */
interface Here {
  handler: ProcessHandler;
  files: LocalFileSystem;
  sandbox: LocalSandbox;
}

/** Time that calls which change files are given to end by themselves at the end, in milliseconds, when the grace is no shorter. */
const FILE_CALLS_MS = 500;

/** Time that a gateway behind is given to answer whether it is ready, in milliseconds: below the 1 s of common probes. */
const READY_MS = 900;

const NOTHING: ProcessStats = {
  running: 0,
  retained: 0,
  started_total: 0,
  exited_total: 0,
  retained_bytes: 0,
  output_bytes_total: 0,
  transcript_bytes: 0,
  transcript_failures_total: 0,
};

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
  #asked: Promise<void> | null = null;

  private constructor(process: ExecProcess, files: ExecutorFileSystem, here: Here | null) {
    this.process = process;
    this.files = files;
    this.#here = here;
    this.sandbox = here?.sandbox ?? null;
  }

  /**
   * With a URL all is behind that gateway, without one on this machine.
   * @throws {GatewayError} for a `fs_root` that is no directory, or a `data_dir` that cannot be used
   */
  static create(options: EnvironmentOptions = {}): Environment {
    const { url, token, limits, fs_root, confine_cwd = false } = options;
    if (url !== undefined) {
      const upstream = { url, token, fetch: fetchUpstream };
      return new Environment(new RemoteExecProcess(upstream), new RemoteFileSystem(upstream), null);
    }
    const files = new LocalFileSystem({ root: fs_root });
    const confine = confine_cwd ? confinedCwd(files.root) : undefined;
    const handler = new ProcessHandler({ ...DEFAULT_LIMITS, ...limits }, confine, openStore(options));
    const sandbox = new LocalSandbox(handler, files.root.path);
    return new Environment(new LocalExecProcess(handler), files, { handler, files, sandbox });
  }

  /** Whether all of it is behind another gateway. */
  get elsewhere(): boolean {
    return this.#here === null;
  }

  /** What runs and is kept here; zero for what runs elsewhere. */
  stats(): ProcessStats {
    return this.#here?.handler.stats() ?? NOTHING;
  }

  /**
   * Resolves when processes can be reached: at once here, else when the gateway behind has answered a call like any other,
   * within 0.9 s. Whoever asks meanwhile gets the same answer.
   * @throws {GatewayError} `not_ready`
   */
  ready(): Promise<void> {
    if (this.#here) return Promise.resolve();
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
   * are aborted after 0.5 s of it and take away what is not whole. Processes behind another gateway are left alone. Resolves
   * when all are closed.
   */
  async close(grace_ms = 2_000): Promise<void> {
    await Promise.all([
      this.#here?.files.close(Math.min(grace_ms, FILE_CALLS_MS)),
      this.#here?.handler.shutdown(grace_ms),
      this.#here?.sandbox.close(),
    ]);
  }
}

/** @throws {GatewayError} when the directory cannot be used */
function openStore({ data_dir, transcripts, tellTrouble = () => {} }: EnvironmentOptions): TranscriptStore | null {
  return data_dir === undefined ? null : TranscriptStore.open(data_dir, { ...DEFAULT_TRANSCRIPT_LIMITS, ...transcripts }, tellTrouble);
}
