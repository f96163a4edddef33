import { unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { descriptorOf, native } from '../process/native.js';
import type { HostedMachine } from './calls.js';
import { HostConnection } from './host-connection.js';
import { type DrainRequest, type Greeting, HOST_PROTOCOL, type HostStatus, type Welcome } from './words.js';

/** How often a drained host looks whether anything runs, in milliseconds. */
const LOOK_MS = 50;

/** What a host is told at its start. */
export interface HostServerOptions {
  version: string;
  /** How long it lives without a front, and with nothing to tell one, in milliseconds. */
  idle_ms: number;
  log(error: unknown): void;
  /** Called once, when it is over. */
  ended(): void;
}

/** Offers a machine on a unix socket, to programs of the same user. */
export class HostServer {
  readonly #machine: HostedMachine;
  readonly #options: HostServerOptions;
  readonly #server: Server;
  readonly #connections = new Set<HostConnection>();
  readonly #started_at = new Date();
  readonly #welcome: Welcome;
  #draining: Promise<number> | null = null;
  #idle_since = performance.now();
  readonly #looking: NodeJS.Timeout;

  constructor(machine: HostedMachine, options: HostServerOptions) {
    this.#machine = machine;
    this.#options = options;
    this.#welcome = { protocol: HOST_PROTOCOL, version: options.version, pid: process.pid };
    this.#server = createServer((socket) => this.#accept(socket));
    this.#looking = setInterval(() => void this.#look(), Math.max(10, options.idle_ms / 4)).unref();
  }

  /** Listens at a path where nobody else does; nobody but this user may connect, from its first moment on. */
  listen(path: string): Promise<void> {
    try {
      unlinkSync(path); // left behind by one that was killed
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      const umask = process.umask(0o177);
      try {
        this.#server.listen({ path }, resolve);
      } finally {
        process.umask(umask);
      }
    });
  }

  /** Takes no new work, waits for what runs, ends what is left. Resolves with how many were ended. */
  drain({ wait_ms, grace_ms }: DrainRequest): Promise<number> {
    this.#draining ??= this.#drain(wait_ms, grace_ms);
    return this.#draining;
  }

  /** Ends at once: every process, every connection. */
  async close(grace_ms: number): Promise<void> {
    this.#machine.drain();
    await this.#machine.close(grace_ms);
    this.#over();
  }

  async #drain(wait_ms: number, grace_ms: number): Promise<number> {
    this.#machine.drain();
    const until = performance.now() + wait_ms;
    while ((await this.#machine.stats()).running > 0 && performance.now() < until) await pause(LOOK_MS);
    const { running } = await this.#machine.stats();
    await this.#machine.close(grace_ms);
    setImmediate(() => this.#over()); // after the answer
    return running;
  }

  #over(): void {
    for (const connection of this.#connections) connection.farewell();
    this.#server.close();
    this.#options.ended();
  }

  #accept(socket: Socket): void {
    const fd = descriptorOf(socket);
    if (native?.peerUser(fd) !== process.geteuid?.()) return void socket.destroy();
    const connection = new HostConnection(socket, this.#machine, {
      welcome: this.#welcome,
      greeted: (greeting) => this.#greeted(greeting),
      status: () => this.#status(),
      drain: (request) => this.drain(request),
      log: this.#options.log,
    });
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
  }

  #greeted({ settings, protocol }: Greeting): void {
    if (settings !== null && protocol === HOST_PROTOCOL) this.#machine.configure(settings);
  }

  async #status(): Promise<HostStatus> {
    const front = this.#front();
    return {
      ...this.#welcome,
      started_at: this.#started_at.toISOString(),
      front: front && { pid: front.pid, version: front.version },
      draining: this.#draining !== null,
      resident_bytes: process.memoryUsage.rss(),
      stats: await this.#machine.stats(),
    };
  }

  #front(): Greeting | null {
    for (const { front } of this.#connections) if (front !== null) return front;
    return null;
  }

  /** Ends when no front has been there for a while, and there is nothing that one could ask for. */
  async #look(): Promise<void> {
    const { running, retained } = await this.#machine.stats();
    if (this.#connections.size > 0 || running > 0 || retained > 0) this.#idle_since = performance.now();
    else if (performance.now() - this.#idle_since >= this.#options.idle_ms) await this.#leave();
  }

  /** A front that comes at this moment is not met any more: it begins another host. */
  async #leave(): Promise<void> {
    clearInterval(this.#looking);
    this.#server.close();
    await this.#machine.close(0);
    this.#options.ended();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
