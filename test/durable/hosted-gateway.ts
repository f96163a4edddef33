import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { RemoteExecProcess } from '../../src/client/remote-exec-process.js';
import type { HostStatus } from '../../src/host/words.js';
import { type Ended, spawnCli } from '../cli/spawn-cli.js';
import { GatewayServer } from '../support/gateway-server.js';
import { isRunning, until } from '../support/proc.js';

/** How clients take a gateway up again that is restarted. */
export const RETRY = { first_delay_ms: 5, max_delay_ms: 50, give_up_ms: 300_000, silence_ms: 300_000 };

/** A gateway with a data directory, which can be killed and started again at the same address. */
export class HostedGateway {
  readonly dir: string;
  readonly #flags: string[];
  readonly #token = 'a-token-that-is-long-enough';
  server!: GatewayServer;

  private constructor(flags: string[]) {
    this.dir = mkdtempSync(join(tmpdir(), 'durable-'));
    this.#flags = flags;
  }

  static async open(flags: string[] = []): Promise<HostedGateway> {
    const gateway = new HostedGateway(flags);
    await gateway.start('127.0.0.1:0');
    return gateway;
  }

  async start(listen = new URL(this.server.url).host, more: string[] = []): Promise<void> {
    const flags = ['--log-level', 'warn', ...this.#flags, ...more, '--data-dir', this.dir, '--listen', listen];
    this.server = await GatewayServer.start({ flags, token: this.#token });
  }

  /** As a crash does it, and then what restarts a program that crashed. */
  async crash(): Promise<void> {
    await this.server.kill();
    await this.start();
  }

  /** As the crash of a machine does it, as far as the processes do not end by it. */
  async crashWithHost(): Promise<void> {
    const host = await this.hostPid();
    await this.server.kill();
    process.kill(host, 'SIGKILL');
    await until('the host is gone', () => !isRunning(host));
    await this.start();
  }

  get token(): string {
    return this.#token;
  }

  processes(): RemoteExecProcess {
    return new RemoteExecProcess({ url: this.server.url, token: this.#token, retry: RETRY });
  }

  /** Runs a command about its data directory. */
  command(name: string, ...flags: string[]): Promise<Ended> {
    return spawnCli([name, '--data-dir', this.dir, ...flags]).ended;
  }

  /** What `status --json` tells. */
  async status(): Promise<{ host: HostStatus | null; front_pid: number | null }> {
    return JSON.parse((await this.command('status', '--json')).stdout.toString());
  }

  async hostPid(): Promise<number> {
    return (await this.status()).host?.pid ?? 0;
  }

  /** Ends the host and the gateway; fails when the gateway does not end well. */
  async close(): Promise<void> {
    const pid = await this.hostPid();
    await this.command('drain', '--grace', '0');
    await this.server.stop();
    await until('the host is gone', () => pid === 0 || !isRunning(pid));
    rmSync(this.dir, { recursive: true });
  }
}

/** One for the tests of a file. */
export function useHostedGateway(): () => HostedGateway {
  let gateway: HostedGateway;
  beforeAll(async () => {
    gateway = await HostedGateway.open();
  });
  afterAll(() => gateway.close());
  return () => gateway;
}
