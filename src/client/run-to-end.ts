import { GatewayError } from '../protocol/error.js';
import type { CallOptions, ExecProcess } from '../protocol/exec-process.js';
import { DEFAULT_RETAIN_BYTES, DEFAULT_RUN_BYTES, MAX_RUN_BYTES, RUN_LINGER_MS } from '../protocol/limits.js';
import type { RunOutput, RunRequest } from '../protocol/run.js';
import { onAbort } from './on-abort.js';
import { BYTES_PER_MS, type Patience, persist, startRetry } from './persist.js';
import type { RetryOptions } from './retry.js';
import { RunHead } from './run-head.js';

/** One round trip at most, in milliseconds: well below the 60 s at which common proxies cut a silent request. */
export const ROUND_MS = 30_000;

type OwnRequest = RunRequest & { process_id: string };

/**
 * Runs a program to its end, however long that takes and however often the connection drops, and never twice:
 * a repeated request meets its own process by its id and goes on from there.
 */
export async function runToEnd(
  processes: ExecProcess,
  request: OwnRequest,
  retry: Required<RetryOptions>,
  { signal }: CallOptions = {},
): Promise<RunOutput> {
  const started_at = performance.now();
  const max_bytes = Math.min(request.max_bytes ?? DEFAULT_RUN_BYTES, MAX_RUN_BYTES);
  const input_bytes = (request.input ?? request.input_base64 ?? '').length;
  // What an answer that got lost held is still there when this run is found again.
  const kept = { retain_bytes: Math.max(DEFAULT_RETAIN_BYTES, 2 * max_bytes), ...request, wait_ms: ROUND_MS };
  const first = await persist((signal, again) => runOrFind(processes, kept, again, signal), {
    retry: startRetry(retry),
    wait_ms: ROUND_MS + input_bytes / BYTES_PER_MS,
    signal,
  });
  if (first.reason !== null && first.duration_ms < ROUND_MS) return first; // else its last output may have missed the answer
  const head = new RunHead(first, max_bytes);
  const patience = { retry, wait_ms: ROUND_MS, signal };
  await readOn(processes, head, patience);
  const { exit_code, signal: by, reason } = await exitOf(processes, first.process_id, patience);
  return { ...head.output(), exit_code, signal: by, reason, duration_ms: performance.now() - started_at };
}

/** Waits until the program has exited, however long that takes. */
export async function exitOf(processes: ExecProcess, process_id: string, patience: Patience) {
  for (;;) {
    const process = await persist((signal) => processes.get(process_id, { wait_ms: ROUND_MS }, { signal }), patience);
    if (process.exited_at !== null || process.state === 'closed') return process;
  }
}

async function runOrFind(processes: ExecProcess, request: OwnRequest, again: boolean, signal: AbortSignal): Promise<RunOutput> {
  try {
    return await processes.run(request, { signal });
  } catch (error) {
    if (!(again && error instanceof GatewayError && error.code === 'process_exists')) throw error;
    const { process_id } = request;
    const nothing = { exit_code: null, signal: null, reason: null, stdout: new Uint8Array(), stderr: new Uint8Array() };
    return { process_id, ...nothing, truncated: false, duration_ms: 0, next_seq: 1 };
  }
}

/** Follows until closed, or 1 s after the exit when something else holds the output, as the gateway itself does; or until there is no more room. */
async function readOn(processes: ExecProcess, head: RunHead, { retry, signal }: Patience): Promise<void> {
  const leaving = new AbortController();
  const forget = onAbort(signal, () => leaving.abort(signal?.reason));
  let linger: ReturnType<typeof setTimeout> | undefined;
  const leaveAfterExit = () => {
    if (head.exited) linger ??= setTimeout(() => leaving.abort(), RUN_LINGER_MS);
  };
  try {
    leaveAfterExit();
    while (!head.done && !leaving.signal.aborted) await followHead(processes, head, { retry, signal: leaving.signal }, leaveAfterExit);
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    clearTimeout(linger);
    forget();
  }
  signal?.throwIfAborted();
}

/** Follows until the head is done, or wants other events. */
async function followHead(processes: ExecProcess, head: RunHead, patience: Patience, onBatch: () => void): Promise<void> {
  const { process_id, after_seq, wanted } = head;
  const { signal } = patience;
  const batches = await persist(() => processes.follow(process_id, { after_seq, stream: wanted }, { signal }), patience);
  for await (const batch of batches) {
    for (const event of batch) head.take(event);
    onBatch();
    if (head.done || head.wanted !== wanted) return;
  }
  if (batches.ended) head.end();
}
