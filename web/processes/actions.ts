import { signal } from '@preact/signals';
import type { ProcessInfo, StartRequest } from '../../src/client/index.js';

/** What a dialog is open for. */
export type OpenDialog = { kind: 'start'; like: StartRequest | null } | { kind: 'end' | 'signal'; process: ProcessInfo };

export const openDialog = signal<OpenDialog | null>(null);

/** What this page started, by id: the gateway tells no variables. */
const requests = new Map<string, StartRequest>();

const MAX_REQUESTS = 500;

/** Remembers a start, to offer it again. */
export function rememberStart(process_id: string, request: StartRequest): void {
  requests.set(process_id, request);
  const [oldest] = requests.keys();
  if (requests.size > MAX_REQUESTS && oldest !== undefined) requests.delete(oldest);
}

export function askStart(): void {
  openDialog.value = { kind: 'start', like: null };
}

/** Offers to start the same again. What this page did not start has lost its variables, which the form says. */
export function askAgain(process: ProcessInfo): void {
  openDialog.value = { kind: 'start', like: requests.get(process.process_id) ?? likeOf(process) };
}

export function askEnd(process: ProcessInfo): void {
  openDialog.value = { kind: 'end', process };
}

export function askSignal(process: ProcessInfo): void {
  openDialog.value = { kind: 'signal', process };
}

export function closeDialog(): void {
  openDialog.value = null;
}

function likeOf({ argv, cwd, tty, labels, stdin, arg0 }: ProcessInfo): StartRequest {
  return {
    argv,
    cwd,
    labels,
    ...(arg0 === null ? {} : { arg0 }),
    ...(tty === null ? {} : { tty }),
    ...(tty === null && (stdin.open || stdin.accepted_bytes > 0) ? { pipe_stdin: true } : {}),
  };
}
