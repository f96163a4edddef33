import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import type { GatewayServerOptions } from '../support/gateway-server.js';
import { useGateway } from '../wire/use-gateway.js';
import { type Ended, type SpawnCliOptions, spawnCli } from './spawn-cli.js';

/** Where `cp` is tried: a gateway, and a directory that holds `here`, this machine's side, and `far`, the gateway's. */
export class CopyScene {
  readonly gateway;
  dir = '';

  constructor(options: GatewayServerOptions = {}) {
    this.gateway = useGateway(options);
    beforeEach(() => {
      this.dir = mkdtempSync(join(tmpdir(), 'cp-'));
      for (const name of ['here', 'far']) mkdirSync(join(this.dir, name));
    });
    afterEach(() => rmSync(this.dir, { recursive: true, force: true }));
  }

  readonly here = (name: string) => join(this.dir, 'here', name);
  readonly far = (name: string) => join(this.dir, 'far', name);
  readonly remote = (name: string) => `:${this.far(name)}`;
  readonly environment = () => ({ EXEC_GATEWAY_URL: this.gateway.server.url, EXEC_GATEWAY_TOKEN: this.gateway.server.token as string });

  /** Starts a copy, in `here`. */
  readonly start = (args: string[], { env = {}, ...options }: SpawnCliOptions = {}) =>
    spawnCli(['cp', ...args], { cwd: this.here(''), env: { ...this.environment(), ...env }, ...options });

  readonly cp = (args: string[], options?: SpawnCliOptions): Promise<Ended> => this.start(args, options).ended;

  /** A copy that succeeds without a word; gives what it printed. */
  readonly copies = async (args: string[], options?: SpawnCliOptions): Promise<Buffer> => {
    const { code, signal, stdout, stderr } = await this.cp(args, options);
    expect([code, signal, stderr], args.join(' ')).toEqual([0, null, '']);
    return stdout;
  };

  /** A copy that fails, and prints nothing; gives what it says. */
  readonly fails = async (args: string[], options?: SpawnCliOptions): Promise<string> => {
    const { code, signal, stdout, stderr } = await this.cp(args, options);
    expect([code, signal, stdout.toString()], args.join(' ')).toEqual([1, null, '']);
    expect(stderr).not.toMatch(/ {4}at /);
    return stderr;
  };

  /** What is not whole yet, on either side. */
  readonly litter = () => (readdirSync(this.dir, { recursive: true }) as string[]).filter((name) => name.includes('.exec-gateway-'));
}

export const bytesAt = (path: string) => readFileSync(path);
export const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);
