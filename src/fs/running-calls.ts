import { type CallOptions, GatewayError } from '../protocol/index.js';

/** Time that calls are given to give up and to take away what is not whole, in milliseconds. */
const SETTLING_MS = 2_000;

/** Calls under way that change something, so that none of them is cut off with what it made half done. */
export class RunningCalls {
  readonly #aborts = new Map<Promise<unknown>, AbortController>();
  #ending = false;

  /**
   * Makes a call.
   * @param act is given the options of the caller, with a signal that aborts at the end too
   * @throws {GatewayError} `shutting_down`
   */
  async run<O extends CallOptions, T>(options: O, act: (options: O & { signal: AbortSignal }) => Promise<T>): Promise<T> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#ending) throw shuttingDown();
    const cut = new AbortController();
    const leave = () => cut.abort(signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    const call = act({ ...options, signal: cut.signal });
    this.#aborts.set(call, cut);
    try {
      return await call;
    } finally {
      this.#aborts.delete(call);
      signal?.removeEventListener('abort', leave);
    }
  }

  /**
   * Refuses new calls, gives those under way some time, and aborts them then. Resolves when all have settled, or 2 s later.
   * @param patience_ms in milliseconds
   */
  async end(patience_ms: number): Promise<void> {
    this.#ending = true;
    const settled = Promise.allSettled(this.#aborts.keys());
    await within(settled, patience_ms);
    for (const cut of this.#aborts.values()) cut.abort(shuttingDown());
    await within(settled, SETTLING_MS);
  }
}

async function within(settled: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([settled, over]);
  clearTimeout(timer);
}

const shuttingDown = () =>
  new GatewayError('shutting_down', 'The gateway is shutting down, and gave the call up: make it again when it is back.');
