import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayServer } from './gateway-server.js';
import { Pool, type Pooled } from './pool.js';
import { isRunning, until } from './proc.js';
import { scratch } from './scratch.js';

export interface ChainOptions {
  /** Flags of the gateway that holds the processes. */
  flags: string[];
  /** Its variables. */
  env: Record<string, string>;
  /** Flags of each of them. */
  common: string[];
  /** A program that runs the one which holds the processes. */
  prefix: string[];
  /** The token of that one. Default: a new one. */
  token: string | undefined;
  /** Whether files cannot leave the chain's root. */
  confined: boolean;
  /** Whether the processes are in a host beside it, whose directory is the chain's. */
  hosted: boolean;
  /** Whether another one stands in front of it. */
  fronted: boolean;
}

const pool = new Pool<GatewayChain>();

/** A gateway that holds processes and, where that is asked for, one in front of it. Processes have its directory as TMPDIR. */
export class GatewayChain implements Pooled {
  readonly dir: string;
  readonly servers: GatewayServer[] = [];

  readonly #hosted: boolean;

  private constructor(hosted: boolean) {
    this.#hosted = hosted;
    this.dir = mkdtempSync(join(scratch(), 'chain-'));
    mkdirSync(this.root);
  }

  static async start(options: ChainOptions): Promise<GatewayChain> {
    const { common, confined, hosted, env, prefix, token, fronted } = options;
    const chain = new GatewayChain(hosted);
    const root = confined ? ['--fs-root', chain.root] : [];
    const data = hosted ? ['--data-dir', chain.data_dir] : [];
    const flags = [...common, ...options.flags, ...root, ...data];
    const host = await GatewayServer.start({ flags, env: { ...env, TMPDIR: chain.dir }, prefix, ...(token ? { token } : {}) });
    chain.servers.push(host);
    if (!fronted) return chain;
    const secret = `${chain.dir}.token`;
    writeFileSync(secret, `${host.token}\n`, { mode: 0o600 });
    chain.servers.push(await GatewayServer.start({ flags: [...common, '--upstream', host.url, '--upstream-token-file', secret] }));
    return chain;
  }

  /** One that was started with the same options and waits, with no files left in it, or a new one. */
  static async take(options: ChainOptions): Promise<GatewayChain> {
    const chain = await pool.take(JSON.stringify(options), () => GatewayChain.start(options));
    for (const name of readdirSync(chain.dir)) rmSync(join(chain.dir, name), { recursive: true });
    mkdirSync(chain.root);
    return chain;
  }

  /** A directory for files; the file root of one that is confined. */
  get root(): string {
    return join(this.dir, 'root');
  }

  /** The program that holds the processes. */
  get host_pid(): number {
    if (this.#hosted) return Number(readFileSync(join(this.data_dir, 'host.lock'), 'utf8'));
    return (this.servers[0] as GatewayServer).pid;
  }

  get data_dir(): string {
    return join(this.dir, 'data');
  }

  /** Others may use it now. */
  giveBack(): Promise<void> {
    return pool.giveBack(this);
  }

  check(): void {
    for (const server of this.servers) server.check();
  }

  /** One that fails to end well does not leave the others running. */
  async stop(): Promise<void> {
    const { host_pid } = this;
    const stopped = await Promise.allSettled(this.servers.map((server) => server.stop()));
    if (this.#hosted) {
      process.kill(host_pid, 'SIGTERM');
      await until('the host is gone', () => !isRunning(host_pid), 20_000);
    }
    rmSync(this.dir, { recursive: true, force: true });
    for (const result of stopped) if (result.status === 'rejected') throw result.reason;
  }
}
