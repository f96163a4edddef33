import type { AddressInfo } from 'node:net';
import { buildApp } from '../../src/app.js';
import { type AppConfig, DEFAULT_CONFIG } from '../../src/config.js';
import { LocalFileSystem } from '../../src/fs/local-file-system.js';
import type { GatewayApp } from '../../src/plugins/gateway-app.js';
import { LocalExecProcess } from '../../src/process/local-exec-process.js';
import { DEFAULT_LIMITS, ProcessHandler } from '../../src/process/process-handler.js';

type Settings = Partial<Pick<AppConfig, 'heartbeat_ms' | 'body_timeout_ms' | 'codex_linger_ms' | 'token' | 'web_dir'>>;

/** A gateway inside the test's own program, which can look at its timers and at who waits. It asks for no token unless told. */
export class InProcessGateway implements AsyncDisposable {
  readonly handler = new ProcessHandler(DEFAULT_LIMITS);
  readonly processes = new LocalExecProcess(this.handler);
  readonly #app: GatewayApp;

  private constructor(settings: Settings) {
    const never = new AbortController().signal;
    const stats = () => this.handler.stats();
    const probes = { ready: async () => {}, shutting_down: () => false, stats, stopping: never, streamsEnd: never };
    const listen = { kind: 'tcp', host: '127.0.0.1', port: 0 } as const;
    this.#app = buildApp(
      { ...DEFAULT_CONFIG, ...settings, listen, log_level: 'silent' },
      { process: this.processes, files: new LocalFileSystem() },
      probes,
    );
  }

  static async open(settings: Settings = {}): Promise<InProcessGateway> {
    const gateway = new InProcessGateway(settings);
    await gateway.#app.listen({ host: '127.0.0.1', port: 0 });
    return gateway;
  }

  get port(): number {
    return (this.#app.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts a process that prints nothing. */
  async sleeper(): Promise<string> {
    return (await this.processes.start({ argv: ['sleep', '60'] })).process.process_id;
  }

  /** How many requests are under way beside the one that asks. */
  async inFlight(): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(/^exec_gateway_http_requests_in_flight (\d+)$/m.exec(text)?.[1]) - 1;
  }

  /** How many wait for news of a process. */
  waiting(process_id: string): number {
    return this.handler.get(process_id).log.waiters.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#app.server.closeAllConnections();
    await this.#app.close();
    await this.handler.shutdown(0);
  }
}

/** Timers that are running in this program. */
export function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}
