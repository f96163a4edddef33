import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { CallOptions } from '../protocol/exec-process.js';
import type { Leave, LeaveListener } from '../protocol/leave.js';

/**
 * A long-poll: waits up to `wait_ms` for as long as the caller stays; when the gateway stops, it answers with what there is.
 * @param call the read to make; made again without a wait when the stop cut it
 */
export function longPoll<T>(
  reply: FastifyReply,
  stopping: AbortSignal,
  wait_ms: number,
  call: (wait_ms: number, options: CallOptions) => Promise<T>,
): Promise<T> {
  if (wait_ms === 0 || stopping.aborted) return call(0, {});
  const poll = new Poll(reply, stopping);
  // Not awaited: what an async function keeps while it waits is twice as much.
  return call(wait_ms, poll).then(
    (answer) => {
      poll.end();
      return answer;
    },
    (error) => {
      poll.end();
      if (poll.stopped) return call(0, {});
      throw error;
    },
  );
}

const NO_HEADERS = Object.freeze({});
const NO_LINES: string[] = [];

/** All checks are passed by now, and nobody reads the headers of a request again: those of a browser take a kilobyte while it waits. */
function forgetHeaders(request: IncomingMessage): void {
  request.headers = NO_HEADERS;
  request.rawHeaders = NO_LINES;
}

/** The polls that a stop cuts. A signal by itself would walk through all that listen whenever one comes or goes. */
const polls = new WeakMap<AbortSignal, Set<Poll>>();

function pollsUntil(stopping: AbortSignal): Set<Poll> {
  let all = polls.get(stopping);
  if (all === undefined) {
    const cut = new Set<Poll>();
    all = cut;
    polls.set(stopping, cut);
    stopping.addEventListener('abort', () => {
      for (const poll of cut) poll.stop();
    });
  }
  return all;
}

/** What ends a call when its caller leaves, or the gateway stops; a real signal is made only for who asks for one. */
class Poll implements CallOptions, Leave {
  readonly #reply: FastifyReply;
  readonly #others: Set<Poll>;
  #signal: AbortController | null = null;
  #listener: LeaveListener | null = null;
  aborted: boolean;
  stopped = false;

  constructor(reply: FastifyReply, stopping: AbortSignal) {
    this.#reply = reply;
    this.#others = pollsUntil(stopping);
    this.#others.add(this);
    this.aborted = reply.raw.destroyed;
    reply.raw.on('close', this.#leave);
    forgetHeaders(reply.request.raw);
  }

  get leave(): Leave {
    return this;
  }

  get signal(): AbortSignal {
    if (this.#signal === null) {
      this.#signal = new AbortController();
      if (this.aborted) this.#signal.abort();
    }
    return this.#signal.signal;
  }

  get reason(): unknown {
    return this.signal.reason;
  }

  addEventListener(_type: 'abort', listener: LeaveListener): void {
    this.#listener = listener;
  }

  removeEventListener(): void {
    this.#listener = null;
  }

  stop(): void {
    this.stopped = !this.aborted;
    this.#leave();
  }

  /** The call is over. */
  end(): void {
    this.#others.delete(this);
    this.#reply.raw.off('close', this.#leave);
  }

  readonly #leave = (): void => {
    if (this.aborted) return;
    this.aborted = true;
    this.#signal?.abort();
    this.#listener?.handleEvent();
  };
}
