import { afterAll, afterEach, beforeAll } from 'vitest';
import { PROBLEM_TYPE, type Problem } from '../../src/protocol/error.js';
import type { ProcessInfo, StartRequest } from '../../src/protocol/index.js';
import { mustBeDescribed } from '../support/described.js';
import { GatewayServer, type GatewayServerOptions } from '../support/gateway-server.js';

/**
 * One gateway for the tests of a suite; after each of them its processes are ended and forgotten. Other suites use it afterwards,
 * unless its options are made by a function or name a program that runs it.
 */
export function useGateway(options: GatewayServerOptions | (() => GatewayServerOptions) = {}): WireGateway {
  const gateway = new WireGateway(options);
  // One that another program runs, as another user perhaps, does not end with this one.
  const shared = typeof options !== 'function' && options.prefix === undefined;
  beforeAll(() => (shared ? gateway.take() : gateway.open()));
  afterEach(() => gateway.clear());
  afterAll(() => (shared ? gateway.server.giveBack() : gateway.server.stop()));
  return gateway;
}

/** A gateway that listens, and what tests of its wire ask of it. */
export class WireGateway {
  readonly #options: GatewayServerOptions | (() => GatewayServerOptions);
  #server: GatewayServer | null = null;

  constructor(options: GatewayServerOptions | (() => GatewayServerOptions)) {
    this.#options = options;
  }

  get server(): GatewayServer {
    if (!this.#server) throw new Error('The gateway is not open.');
    return this.#server;
  }

  get port(): number {
    return Number(new URL(this.server.url).port);
  }

  /** The header line that every request needs. */
  get authorization(): string {
    return `Authorization: Bearer ${this.server.token}`;
  }

  async open(): Promise<void> {
    this.#server = await GatewayServer.start(this.#given);
  }

  /** Opens one that others may have used, if there is one. */
  async take(): Promise<void> {
    this.#server = await GatewayServer.take(this.#given);
  }

  get #given(): GatewayServerOptions {
    return typeof this.#options === 'function' ? this.#options() : this.#options;
  }

  /** A request with the token; an error has to be one that the description names for the call. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const reply = await this.server.fetch(path, init);
    const { method = 'GET' } = init;
    if (method === 'HEAD' || reply.headers.get('content-type') !== PROBLEM_TYPE) return reply;
    const { status, code } = (await reply.clone().json()) as Problem;
    mustBeDescribed(method, path, status, code);
    return reply;
  }

  /** A request with a JSON body. */
  send(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch(path, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
  }

  /** Starts a process, which must succeed. */
  async start(argv: string[], rest: Omit<StartRequest, 'argv'> = {}): Promise<ProcessInfo> {
    const reply = await this.send('POST', '/processes', { argv, ...rest });
    if (reply.status !== 201) throw new Error(`The start was refused: ${await reply.text()}`);
    return (await reply.json()) as ProcessInfo;
  }

  async list(): Promise<ProcessInfo[]> {
    const reply = await this.fetch('/processes?limit=1000');
    return ((await reply.json()) as { processes: ProcessInfo[] }).processes;
  }

  async clear(): Promise<void> {
    const forget = ({ process_id }: ProcessInfo) =>
      this.fetch(`/processes/${process_id}?grace_ms=0&wait_ms=10000&purge=true`, { method: 'DELETE' }).then((reply) => reply.arrayBuffer());
    for (let all = await this.list(); all.length > 0; all = await this.list()) await Promise.all(all.map(forget));
  }
}
