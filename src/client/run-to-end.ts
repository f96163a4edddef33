import { GatewayError } from '../protocol/error.js';
import type { CallOptions, ExecProcess } from '../protocol/exec-process.js';
import { DEFAULT_RUN_BYTES, MAX_RUN_BYTES, RUN_LINGER_MS } from '../protocol/limits.js';
import type { RunOutput, RunRequest } from '../protocol/run.js';
import { Backoff, type RetryOptions } from './retry.js';

/** One round trip at most, in milliseconds: well below the 60 s at which common proxies cut a silent request. */
export const ROUND_MS = 30_000;

/** A gateway that was never reached is told of after this long, in milliseconds: it may just be restarting. */
const START_GIVE_UP_MS = 5_000;

/** Calls again as long as the gateway is not reached, up to `give_up_ms`. For calls that may arrive twice. */
export async function persist<T>(call: (again: boolean) => Promise<T>, retry: Required<RetryOptions>, signal?: AbortSignal): Promise<T> {
  const backoff = new Backoff(retry);
  for (let again = false; ; again = true) {
    try {
      return await call(again);
    } catch (error) {
      if (!(error instanceof GatewayError && error.code === 'upstream_unreachable')) throw error;
      await backoff.pause(error, signal);
    }
  }
}

/** A call that starts something gives up sooner than one that waits for it. */
export const startPatience = (retry: Required<RetryOptions>): Required<RetryOptions> => ({
  ...retry,
  give_up_ms: Math.min(retry.give_up_ms, START_GIVE_UP_MS),
});

/**
 * Runs a program to its end, however long that takes and however often the connection drops, and never twice:
 * a repeated request meets its own process by its id and goes on from there.
 */
export async function runToEnd(
  processes: ExecProcess,
  request: RunRequest & { process_id: string },
  retry: Required<RetryOptions>,
  { signal }: CallOptions = {},
): Promise<RunOutput> {
  const started_at = performance.now();
  const first = await persist(
    (again) => runOrFind(processes, { ...request, wait_ms: ROUND_MS }, again, signal),
    startPatience(retry),
    signal,
  );
  if (first.reason !== null && first.duration_ms < ROUND_MS) return first; // else its last output may have missed the answer
  const capture = new Capture(first, Math.min(request.max_bytes ?? DEFAULT_RUN_BYTES, MAX_RUN_BYTES));
  await readOn(processes, capture, retry, signal);
  const { exit_code, signal: by, reason } = await persist(() => processes.get(first.process_id, {}, { signal }), retry, signal);
  return { ...capture.output(), exit_code, signal: by, reason, duration_ms: performance.now() - started_at };
}

async function runOrFind(
  processes: ExecProcess,
  request: RunRequest & { process_id: string },
  again: boolean,
  signal?: AbortSignal,
): Promise<RunOutput> {
  try {
    return await processes.run(request, { signal });
  } catch (error) {
    if (!(again && error instanceof GatewayError && error.code === 'process_exists')) throw error;
    const { process_id } = request;
    const nothing = { exit_code: null, signal: null, reason: null, stdout: new Uint8Array(), stderr: new Uint8Array() };
    return { process_id, ...nothing, truncated: false, duration_ms: 0, next_seq: 1 };
  }
}

/** Reads until closed, or 1 s after the exit when something else holds the output, as the gateway itself does. */
async function readOn(processes: ExecProcess, capture: Capture, retry: Required<RetryOptions>, signal?: AbortSignal): Promise<void> {
  let linger_until: number | null = null;
  for (;;) {
    const wait_ms = linger_until === null ? ROUND_MS : Math.max(0, Math.ceil(linger_until - performance.now()));
    const query = { after_seq: capture.after_seq, wait_ms, stream: capture.wanted };
    const { chunks, next_seq, exited, closed, gap } = await persist(
      () => processes.read(capture.process_id, query, { signal }),
      retry,
      signal,
    );
    for (const { stream, chunk } of chunks) capture.take(stream === 'stderr' ? 'stderr' : 'stdout', chunk);
    if (gap) capture.truncated = true;
    capture.after_seq = next_seq - 1;
    if (exited) linger_until ??= performance.now() + RUN_LINGER_MS;
    if (closed || (linger_until !== null && wait_ms === 0)) return;
  }
}

/** The head of both streams, gathered over several answers. */
class Capture {
  readonly process_id: string;
  readonly #parts: Record<'stdout' | 'stderr', Uint8Array[]>;
  readonly #room: Record<'stdout' | 'stderr', number>;
  truncated: boolean;
  after_seq: number;

  constructor({ process_id, stdout, stderr, truncated, next_seq }: RunOutput, max_bytes: number) {
    this.process_id = process_id;
    this.#parts = { stdout: [stdout], stderr: [stderr] };
    this.#room = { stdout: max_bytes - stdout.length, stderr: max_bytes - stderr.length };
    this.truncated = truncated;
    this.after_seq = next_seq - 1;
  }

  /** The stream still of use once it is known that the other was cut. */
  get wanted(): 'stdout' | 'stderr' | undefined {
    if (!this.truncated) return undefined;
    if (this.#room.stdout === 0) return 'stderr';
    return this.#room.stderr === 0 ? 'stdout' : undefined;
  }

  take(name: 'stdout' | 'stderr', chunk: Uint8Array): void {
    const part = chunk.subarray(0, this.#room[name]);
    this.#parts[name].push(part);
    this.#room[name] -= part.length;
    if (part.length < chunk.length) this.truncated = true;
  }

  output() {
    const { process_id, truncated, after_seq } = this;
    return { process_id, stdout: concat(this.#parts.stdout), stderr: concat(this.#parts.stderr), truncated, next_seq: after_seq + 1 };
  }
}

function concat(parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
