import type { Server } from 'node:http';
import type { Environment } from '../environment.js';
import type { App, Probes } from './listen.js';

/** Time that processes are given to end beyond the grace, in milliseconds. */
const BEYOND_GRACE_MS = 2_500;

/** Time that connections are given to finish, in milliseconds. */
const CONNECTIONS_MS = 500;

/** The end of the gateway: refuse, answer, end the processes, end the streams, close. */
export class Shutdown {
  readonly #environment: Environment;
  readonly #stopping = new AbortController();
  readonly #streams_end = new AbortController();
  readonly probes: Probes;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.probes = {
      ready: () => environment.ready(),
      stats: () => environment.stats(),
      shutting_down: () => this.#stopping.signal.aborted,
      stopping: this.#stopping.signal,
      streamsEnd: this.#streams_end.signal,
    };
  }

  /** Whether the end has begun. */
  get begun(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Resolves when everything is closed: within `grace_ms` + 4 s, whatever processes and callers do. */
  async run(app: App, grace_ms: number): Promise<void> {
    this.#stopping.abort();
    await Promise.race([this.#environment.close(grace_ms), after(grace_ms + BEYOND_GRACE_MS)]);
    await turn(); // followers take their last events
    this.#streams_end.abort();
    const server = app.server as Server;
    const closed = app.close();
    server.closeIdleConnections();
    await Promise.race([closed, after(CONNECTIONS_MS)]);
    server.closeAllConnections();
    await closed;
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
}
