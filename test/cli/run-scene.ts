import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { ProcessInfo } from '../../src/protocol/index.js';
import type { GatewayServerOptions } from '../support/gateway-server.js';
import { useGateway } from '../wire/use-gateway.js';
import { type Ended, ended, MAIN, type SpawnCliOptions, spawnCli } from './spawn-cli.js';

/** Where the commands for processes are tried: a gateway, and the program with its settings. */
export class RunScene {
  readonly gateway;

  constructor(options: GatewayServerOptions | (() => GatewayServerOptions) = {}) {
    this.gateway = useGateway(options);
  }

  readonly environment = () => ({ EXEC_GATEWAY_URL: this.gateway.server.url, EXEC_GATEWAY_TOKEN: this.gateway.server.token as string });

  /** Starts the program. */
  readonly start = (args: string[], { env = {}, ...options }: SpawnCliOptions = {}) =>
    spawnCli(args, { env: { ...this.environment(), ...env }, ...options });

  readonly call = (args: string[], options?: SpawnCliOptions): Promise<Ended> => this.start(args, options).ended;

  /** Runs a shell line at the gateway. */
  readonly sh = (line: string, flags: string[] = [], options?: SpawnCliOptions) =>
    this.call(['run', ...flags, '--', 'sh', '-c', line], options);

  /** A call that succeeds without a word on stderr; gives what it printed. */
  readonly prints = async (args: string[], options?: SpawnCliOptions): Promise<string> => {
    const { code, signal, stdout, stderr } = await this.call(args, options);
    expect([code, signal, stderr], args.join(' ')).toEqual([0, null, '']);
    return stdout.toString();
  };

  /** Runs a shell line here, in which `$EG` is the program. */
  readonly local = (line: string): Promise<Ended> => {
    const { PATH } = process.env;
    return ended(spawn('sh', ['-c', line], { env: { PATH, EG: `${process.execPath} ${MAIN}`, ...this.environment() } }));
  };

  /** Whether a process is stopped. */
  readonly isStopped = (pid: number): boolean => /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

  readonly processes = (): Promise<ProcessInfo[]> => this.gateway.list();
}
