import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { RemoteExecProcess } from '../../src/client/remote-exec-process.js';
import { RemoteFileSystem } from '../../src/client/remote-file-system.js';
import { Environment, type ProcessLimits } from '../../src/environment.js';
import { type ExecProcess, type ExecutorFileSystem, type ProcessInfo, SSE_TYPE, type StartRequest } from '../../src/protocol/index.js';
import { AttachedProcess } from './attached-process.js';
import { GatewayChain } from './gateway-chain.js';
import type { GatewayServer } from './gateway-server.js';
import { commandLine, descriptors, markedProcesses, until } from './proc.js';

/**
 * `local`: in this program. `remote`: behind a gateway. `proxied`: behind a gateway in front of a gateway, followed by server-sent events. `portable`: behind a
 * gateway that starts programs without the native launcher. `attached`: behind a gateway in front of a gateway, followed and
 * written to by WebSocket. `hosted`: behind a gateway with a data directory, in the host beside it.
 */
export type BackendName = 'local' | 'remote' | 'proxied' | 'portable' | 'attached' | 'hosted';

/** Where the contract holds: everywhere. */
export const BACKENDS: BackendName[] = ['local', 'remote', 'proxied'];

/** The same, and with both launchers: for what depends on how a program is started. */
export const BACKENDS_AND_LAUNCHERS: BackendName[] = [...BACKENDS, 'portable'];

/** The same, and by WebSocket: for what concerns following and writing. */
export const BACKENDS_AND_SOCKETS: BackendName[] = [...BACKENDS, 'attached'];

/** All of them but the host. */
export const ALL_BACKENDS: BackendName[] = [...BACKENDS_AND_LAUNCHERS, 'attached'];

export interface BackendOptions {
  /** Limits of the processes. */
  limits?: Partial<ProcessLimits>;
  /** Variables of the program that holds the processes. */
  env?: Record<string, string>;
  /** Whether no path of a file may leave `root`. */
  confined?: boolean;
  /** Whether working directories obey that too. */
  confine_cwd?: boolean;
  /** Whether output is kept on disk too. */
  data_dir?: boolean;
  /** Further flags of the gateways. */
  flags?: string[];
  /** A program that runs the gateway which holds the processes. */
  prefix?: string[];
  /** The token of that gateway. Default: a new one. */
  token?: string;
}

/** Sets up a backend around the tests of a suite; after each of them nothing that it started may be left. */
export function useBackend(name: BackendName, options: BackendOptions = {}): Backend {
  const backend = new Backend(name, options);
  beforeAll(() => backend.open());
  afterEach(() => backend.expectNothingLeft());
  afterAll(() => backend.close());
  return backend;
}

/** One way to reach processes. */
export class Backend {
  readonly name: BackendName;
  /** A directory that goes away with the backend. Processes have it as TMPDIR, which tells them from all others. */
  dir = '';
  readonly #options: BackendOptions;
  readonly #own_env: Record<string, string | undefined> = {};
  #environment: Environment | null = null;
  #process: ExecProcess | null = null;
  #files: ExecutorFileSystem | null = null;
  #baseline = new Map<number, number>();
  #chain: GatewayChain | null = null;

  constructor(name: BackendName, options: BackendOptions) {
    this.name = name;
    this.#options = options;
  }

  get process(): ExecProcess {
    if (!this.#process) throw new Error('The backend is not open.');
    return this.#process;
  }

  /** A directory for files; the file root when the backend is confined. */
  get root(): string {
    return join(this.dir, 'root');
  }

  /** Where output is kept on disk. */
  get data_dir(): string {
    return join(this.dir, 'data');
  }

  get files(): ExecutorFileSystem {
    if (!this.#files) throw new Error('The backend is not open.');
    return this.#files;
  }

  /** The program that holds the processes. */
  get host_pid(): number {
    return this.#chain?.host_pid ?? process.pid;
  }

  /** Whether the processes are in a host beside the gateway. */
  get #hosted(): boolean {
    return this.name === 'hosted' || (this.#options.data_dir === true && this.name !== 'local');
  }

  /** The gateways on the way, the one that holds the processes first. */
  get servers(): GatewayServer[] {
    return this.#chain?.servers.slice(0, this.#fronted ? 2 : 1) ?? [];
  }

  get #fronted(): boolean {
    return this.name === 'proxied' || this.name === 'attached';
  }

  /** All programs of the product that take part, this one only when it holds the processes. */
  get pids(): number[] {
    if (this.servers.length === 0) return [process.pid];
    return [...new Set([this.host_pid, ...this.servers.map(({ pid }) => pid)])];
  }

  async start(argv: string[], rest: Omit<StartRequest, 'argv'> = {}): Promise<ProcessInfo> {
    return (await this.process.start({ argv, ...rest })).process;
  }

  /** Starts a shell script. */
  sh(script: string, rest: Omit<StartRequest, 'argv'> = {}): Promise<ProcessInfo> {
    return this.start(['sh', '-c', script], rest);
  }

  async open(): Promise<void> {
    await (this.name === 'local' ? this.#openLocal() : this.#openRemote());
    // Whatever is opened once and kept is open from here on.
    for (const tty of [false, true]) await this.start(['true'], { tty });
    await this.#clear();
    for (const pid of this.pids) this.#baseline.set(pid, descriptors(pid).length);
  }

  async close(): Promise<void> {
    await this.#environment?.close();
    for (const [name, value] of Object.entries(this.#own_env)) setOwn(name, value);
    if (this.#chain === null) rmSync(this.dir, { recursive: true });
    else if (this.#hosted) await this.#chain.stop();
    else await this.#chain.giveBack();
  }

  /** Ends and forgets all processes, then fails when one of them, a descriptor or a request is left. */
  async expectNothingLeft(): Promise<void> {
    const sessions = await this.#clear();
    const mark = `TMPDIR=${this.dir}`;
    const left = () => markedProcesses(mark, sessions).filter((pid) => !this.pids.includes(pid) && pid !== process.pid);
    await until('no process is left', () => left().length === 0, 20_000).catch((cause) => {
      const lines = left().map(commandLine);
      for (const pid of left()) process.kill(pid, 'SIGKILL');
      throw new Error(`Processes were left:\n${lines.join('\n')}`, { cause });
    });
    for (const [pid, before] of this.#baseline) {
      const now = () => descriptors(pid);
      await until(`${pid} has ${before} descriptors again`, () => now().length <= before, 20_000).catch((cause) => {
        throw new Error(`Descriptors were left: ${before} before, now\n${now().join('\n')}`, { cause });
      });
    }
    for (const server of this.servers) {
      await until('only the question for the metric is under way', async () => (await server.metric(IN_FLIGHT)) === 1, 20_000);
    }
  }

  async #openLocal(): Promise<void> {
    this.dir = mkdtempSync(join(tmpdir(), 'contract-'));
    mkdirSync(this.root);
    for (const [name, value] of Object.entries({ ...this.#options.env, TMPDIR: this.dir })) {
      this.#own_env[name] = process.env[name];
      setOwn(name, value);
    }
    const { limits, confined, confine_cwd, data_dir } = this.#options;
    this.#environment = Environment.create({
      limits,
      fs_root: confined ? this.root : undefined,
      confine_cwd,
      data_dir: data_dir ? this.data_dir : undefined,
    });
    this.#process = this.#environment.process;
    this.#files = this.#environment.files;
  }

  async #openRemote(): Promise<void> {
    const { limits = {}, flags = [], prefix = [], token: given, confined = false, confine_cwd = false } = this.#options;
    const settings = Object.entries(limits).flatMap(([name, value]) => [`--${name.replaceAll('_', '-')}`, String(value)]);
    const options = {
      common: ['--log-level', 'warn', ...flags],
      flags: [...settings, ...(confine_cwd ? ['--confine-cwd'] : [])],
      env: { ...this.#options.env, ...(this.name === 'portable' ? { EXEC_GATEWAY_LAUNCHER: 'portable' } : {}) },
      prefix,
      token: given,
      confined,
      hosted: this.#hosted,
      // Backends with the same one behind a front share it.
      fronted: this.#fronted || this.name === 'remote',
    };
    this.#chain = await (this.#hosted ? GatewayChain.start(options) : GatewayChain.take(options));
    this.dir = this.#chain.dir;
    const { url, token } = this.servers.at(-1) as GatewayServer;
    const Processes = this.name === 'attached' ? AttachedProcess : RemoteExecProcess;
    this.#process = new Processes({ url, token: token ?? undefined, fetch: this.name === 'proxied' ? fetchEventStream : undefined });
    this.#files = new RemoteFileSystem({ url, token: token ?? undefined });
  }

  /** Returns the sessions of the processes that there were. */
  async #clear(): Promise<Set<number>> {
    const sessions = new Set<number>();
    for (;;) {
      const { processes } = await this.process.list({ limit: 1000 });
      if (processes.length === 0) return sessions;
      for (const { pid } of processes) if (pid !== null) sessions.add(pid);
      await Promise.all(processes.map(({ process_id }) => this.#forget(process_id)));
    }
  }

  async #forget(process_id: string): Promise<void> {
    const query = { grace_ms: 0, wait_ms: 10_000, purge: true };
    await this.process.terminate(process_id, query).catch((error) => {
      if (error.code !== 'process_not_found') throw error; // it expired in this moment
    });
  }
}

const IN_FLIGHT = 'exec_gateway_http_requests_in_flight';

function setOwn(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

/** Asks as a caller does that takes events as server-sent events alone, and so is answered with them. */
const fetchEventStream: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  if (headers.get('accept')?.includes(SSE_TYPE)) headers.set('accept', SSE_TYPE);
  return fetch(input, { ...init, headers });
};
