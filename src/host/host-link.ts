import { GatewayError } from '../protocol/error.js';
import { type FrontConnection, gone, type HostCall } from './front-connection.js';
import type { FrontStream } from './front-stream.js';

/** Pauses between attempts to reach or start a host, in milliseconds: they double. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/** How long a call waits for a host to be there, in milliseconds. */
const CALL_WAIT_MS = 10_000;

/** Keeps a front connected to a host: when one ends, another is begun. */
export class HostLink {
  readonly #begin: () => Promise<FrontConnection>;
  readonly #log: (message: string) => void;
  #connection: FrontConnection | null = null;
  #coming: Promise<FrontConnection> | null = null;
  #closed = false;
  #drained = false;

  /**
   * @param begin finds a host, or starts one
   * @param log told in a line when a host was lost, and when there is one again
   */
  constructor(first: FrontConnection, begin: () => Promise<FrontConnection>, log: (message: string) => void) {
    this.#begin = begin;
    this.#log = log;
    this.#use(first);
  }

  /** The pid of the host; null while there is none. */
  get pid(): number | null {
    return this.#connection?.welcome.pid ?? null;
  }

  async call<Answer>(call: HostCall): Promise<Answer> {
    return (this.#connection ?? (await this.#next())).call<Answer>(call);
  }

  async stream<Head, Event>(call: HostCall): Promise<{ head: Head; batches: FrontStream<Event> }> {
    return (this.#connection ?? (await this.#next())).stream<Head, Event>(call);
  }

  /** Lets go of the host, which goes on. */
  close(): void {
    this.#closed = true;
    this.#connection?.close();
  }

  #use(connection: FrontConnection): void {
    this.#connection = connection;
    void connection.closed.then(() => {
      this.#connection = null;
      if (connection.farewell) this.#drained = true;
      if (this.#closed || this.#drained) return;
      this.#log(`the process host ${connection.welcome.pid} has ended: another is started`);
      this.#coming = this.#another();
      this.#coming.catch(() => {}); // told to whoever calls meanwhile
    });
  }

  async #next(): Promise<FrontConnection> {
    if (this.#drained) {
      throw new GatewayError(
        'shutting_down',
        'The processes of this gateway were drained: it takes no more work until it is started anew.',
      );
    }
    if (this.#coming === null) throw gone();
    return within(this.#coming, CALL_WAIT_MS);
  }

  async #another(): Promise<FrontConnection> {
    for (let pause_ms = FIRST_PAUSE_MS; !this.#closed; pause_ms = Math.min(LONGEST_PAUSE_MS, pause_ms * 2)) {
      try {
        const connection = await this.#begin();
        this.#log(`the process host ${connection.welcome.pid} has taken over`);
        this.#use(connection);
        return connection;
      } catch (error) {
        this.#log((error as Error).message);
        await new Promise((resolve) => setTimeout(resolve, pause_ms).unref());
      }
    }
    throw gone();
  }
}

function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(gone()), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
