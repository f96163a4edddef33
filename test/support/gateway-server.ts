import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool, type Pooled } from './pool.js';

/** Lets a program end when the one that started it does, however that ends. */
const ENDED_WITH_US = ['/usr/bin/setpriv', '--pdeathsig', 'TERM'];

const MAIN = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

/** Longest time to get ready, and to end after SIGTERM: the gateway promises 10 s for the latter. */
const PATIENCE_MS = 10_000;

/** How long a start may take, in milliseconds. */
const START_MS = 30_000;

/** Words on stderr that no healthy gateway says: warnings of Node, errors nobody caught, requests that failed inside. */
const FAULTS = /\(node:|MaxListeners|unhandled|uncaught|"level":[56]0/i;

export interface GatewayServerOptions {
  /** Further flags of `serve`; a later `--listen` wins over `127.0.0.1:0`. */
  flags?: string[];
  /** Variables laid over those of the tests. */
  env?: Record<string, string>;
  /** A program and its arguments that run the gateway, such as `prlimit --nofile=256`. */
  prefix?: string[];
  /** What the gateway asks for; null with `--no-auth`. Default: a new one, given by variable. */
  token?: string | null;
}

const pool = new Pool<GatewayServer>();

/** A gateway as users run it: `exec-gateway serve` as a program of its own. */
export class GatewayServer implements Pooled {
  readonly url: string;
  readonly token: string | null;
  readonly pid: number;
  /** All it has written, growing. */
  readonly output: { stdout: string; stderr: string };
  readonly #child: ChildProcess;
  /** How much of stderr was looked at. */
  #checked = 0;

  private constructor(child: ChildProcess, url: string, token: string | null, output: { stdout: string; stderr: string }) {
    this.#child = child;
    this.pid = child.pid as number;
    this.url = url;
    this.token = token;
    this.output = output;
  }

  /** Resolves when it has printed its address. */
  static async start(options: GatewayServerOptions = {}): Promise<GatewayServer> {
    const { flags = [], token = `test-${randomBytes(16).toString('hex')}`, prefix = [] } = options;
    const argv = [...ENDED_WITH_US, ...prefix, process.execPath, MAIN, 'serve', '--listen', '127.0.0.1:0', ...flags];
    const child = spawn(argv[0] as string, argv.slice(1), {
      env: { ...ownEnv(), ...(token === null ? {} : { EXEC_GATEWAY_TOKEN: token }), ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text;
    });
    const url = await address(child, output);
    return new GatewayServer(child, url, token, output);
  }

  /** One that was started with the same options and waits, or a new one. */
  static take(options: GatewayServerOptions): Promise<GatewayServer> {
    return pool.take(JSON.stringify(options), () => GatewayServer.start(options));
  }

  /** Others may use it now. Fails when it ended, or told of a fault on stderr. */
  giveBack(): Promise<void> {
    return pool.giveBack(this);
  }

  /** A request to a path of the gateway, with its token. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.token !== null && !headers.has('authorization')) headers.set('authorization', `Bearer ${this.token}`);
    return fetch(this.url + path, { ...init, headers });
  }

  /** The value of one metric. */
  async metric(name: string): Promise<number> {
    const text = await (await this.fetch('/metrics')).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
  }

  /** Fails when it has ended, or told of a fault on stderr since it was last looked at. */
  check(): void {
    this.#checkThere();
    this.#checkTold();
  }

  /** Ends it with SIGTERM. Fails when it does not exit with 0 in time, had ended before, or told of a fault on stderr. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#checkThere();
    const overdue = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
    clearTimeout(overdue);
    if (child.exitCode !== 0) throw this.#unwell(`did not end well after ${signal}`);
    this.#checkTold();
  }

  #checkThere(): void {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) throw this.#unwell('ended by itself');
  }

  #checkTold(): void {
    const told = this.output.stderr.slice(this.#checked);
    this.#checked += told.length;
    if (FAULTS.test(told)) throw new Error(`The gateway told of a fault:\n${told}`);
  }

  #unwell(what: string): Error {
    const { exitCode, signalCode } = this.#child;
    return new Error(`The gateway ${what} (exit code ${exitCode}, signal ${signalCode}).\n${this.output.stderr}`);
  }
}

/** The variables of the tests without the gateway's settings. */
function ownEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('EXEC_GATEWAY_')));
}

function address(child: ChildProcess, output: { stdout: string; stderr: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      child.kill('SIGKILL');
      reject(new Error(`The gateway ${why}.\n${output.stdout}${output.stderr}`));
    };
    const overdue = setTimeout(() => fail(`was not ready within ${START_MS} ms`), START_MS);
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    const early = (code: number | null) => {
      clearTimeout(overdue);
      fail(`ended with exit code ${code} before it was ready`);
    };
    child.once('close', early);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text;
      const url = /^exec-gateway listens on (\S+)\n/.exec(output.stdout)?.[1];
      if (url === undefined) return;
      clearTimeout(overdue);
      child.off('close', early);
      resolve(url);
    });
  });
}
