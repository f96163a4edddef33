import {
  DEFAULT_RUN_BYTES,
  DEFAULT_RUN_WAIT_MS,
  decodeBase64,
  GatewayError,
  MAX_RUN_BYTES,
  MAX_TIMEOUT_MS,
  MAX_WAIT_MS,
  RUN_LINGER_MS,
  type RunOutput,
  type RunRequest,
} from '../protocol/index.js';
import type { HostedProcess } from './hosted-process.js';
import type { ProcessHandler } from './process-handler.js';
import { RunCapture } from './run-capture.js';
import { waitUntil } from './wait-until.js';

/**
 * Starts a process, feeds its input, and waits for its end: until its output is closed, or 1 s after its exit when
 * something else holds the output, or `wait_ms`; then it goes on. It also goes on when the caller leaves.
 */
export async function runProcess(handler: ProcessHandler, request: RunRequest, signal?: AbortSignal): Promise<RunOutput> {
  const { input, input_base64, wait_ms = DEFAULT_RUN_WAIT_MS, max_bytes = DEFAULT_RUN_BYTES, encoding: _, ...start } = request;
  const bytes = inputBytes(input, input_base64);
  const capture = new RunCapture(Math.min(max_bytes, MAX_RUN_BYTES));
  const started_at = performance.now();
  const asked = { ...start, ...(bytes && !start.tty ? { pipe_stdin: true } : {}) };
  const { process } = await handler.start(asked, { tap: (stream, chunk) => capture.take(stream, chunk) });
  process.expectNoFollower();
  if (bytes) process.stdin.write(bytes, { eof: true, wait_ms: MAX_TIMEOUT_MS }).catch(() => {}); // it may well not read it all
  try {
    await ended(handler, process, Math.min(wait_ms, MAX_WAIT_MS), signal);
  } finally {
    process.tap = null;
  }
  const exit = process.log.exited;
  return {
    process_id: process.process_id,
    exit_code: exit?.exit_code ?? null,
    signal: exit?.signal ?? null,
    reason: process.reason,
    stdout: capture.bytes('stdout'),
    stderr: capture.bytes('stderr'),
    truncated: capture.truncated,
    duration_ms: Math.round((performance.now() - started_at) * 1000) / 1000,
    next_seq: process.log.next_seq,
  };
}

function inputBytes(input: string | undefined, input_base64: string | undefined): Uint8Array | null {
  if (input !== undefined && input_base64 !== undefined) {
    throw new GatewayError('invalid_request', 'input and input_base64 are both given: give one.', { field: 'input_base64' });
  }
  if (input !== undefined && !input.isWellFormed()) {
    throw new GatewayError('invalid_argument', 'input holds half of a surrogate pair: send the bytes as input_base64.', { field: 'input' });
  }
  if (input !== undefined) return Buffer.from(input);
  return input_base64 === undefined ? null : decodeBase64(input_base64, 'input_base64');
}

async function ended(handler: ProcessHandler, process: HostedProcess, wait_ms: number, signal?: AbortSignal): Promise<void> {
  const { log } = process;
  const until = performance.now() + wait_ms;
  const closed = () => log.closed_seq !== null;
  await waitUntil(log.waiters, () => log.exited !== null || closed() || handler.stopping, wait_ms, signal);
  if (log.exited) await waitUntil(log.waiters, closed, Math.min(RUN_LINGER_MS, until - performance.now()), signal);
}
