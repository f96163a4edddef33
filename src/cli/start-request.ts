import { newProcessId } from '../client/process-id.js';
import type { StartRequest, TtySize } from '../protocol/start.js';
import type { RunOptions } from './run-options.js';

/** Output kept for what runs in the foreground, in bytes: a connection may be lost for a while, and a reader pause. */
const RETAIN_BYTES = 8 * 1024 * 1024;

/** What to start, once: the id makes a repeated start known. */
export type StartOnce = StartRequest & { process_id: string };

/**
 * The start that the words of a `run` ask for.
 * @param size of the terminal here; null without one
 */
export function startRequest(argv: string[], options: RunOptions, size: TtySize | null): StartOnce {
  const { stdin, tty, cwd, env, label: labels, timeout: timeout_ms, id, detach, retainBytes } = options;
  const { TERM: term } = process.env;
  const retain_bytes = retainBytes ?? (tty || detach ? undefined : RETAIN_BYTES);
  const all = {
    process_id: id ?? newProcessId(),
    argv,
    cwd,
    env,
    labels,
    timeout_ms,
    retain_bytes,
    tty: tty && { ...size, ...(term ? { term } : {}) },
    pipe_stdin: tty ? undefined : stdin,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as unknown as StartOnce;
}
