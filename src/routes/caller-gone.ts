import type { FastifyReply } from 'fastify';
import type { CallOptions } from '../protocol/exec-process.js';

/**
 * Makes a call that may wait, and gives it up when its caller leaves. What tells so is made when the call asks for it:
 * most calls never wait.
 * The reply's own end tells that: a request with a body is "closed" as soon as the body was read.
 */
export async function whileCallerStays<T>(reply: FastifyReply, call: (options: CallOptions) => Promise<T>): Promise<T> {
  const caller = new Caller(reply);
  try {
    return await call(caller);
  } finally {
    caller.release();
  }
}

class Caller implements CallOptions {
  readonly #reply: FastifyReply;
  #gone: AbortController | null = null;

  constructor(reply: FastifyReply) {
    this.#reply = reply;
  }

  get signal(): AbortSignal {
    if (this.#gone === null) {
      this.#gone = new AbortController();
      if (this.#reply.raw.destroyed) this.#gone.abort();
      this.#reply.raw.once('close', this.#leave);
    }
    return this.#gone.signal;
  }

  release(): void {
    if (this.#gone) this.#reply.raw.off('close', this.#leave);
  }

  readonly #leave = () => this.#gone?.abort();
}
