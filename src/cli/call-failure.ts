import { GatewayError } from '../protocol/error.js';

/** What to do when nobody answers. */
export const UNREACHABLE = 'is it running, and is --url (EXEC_GATEWAY_URL) its address, http or https?';

/** What to do about an error, where its own words do not say it. */
const ADVICE: Record<string, string> = {
  upstream_unreachable: UNREACHABLE,
  process_not_found:
    'exec-gateway ps --all shows what there is; a closed process is forgotten after a while, and all are when the gateway restarts.',
  process_exists: 'give another --id, or the same command and settings as before to go on with it.',
  too_many_processes: 'end some: exec-gateway ps, exec-gateway kill ID.',
  shutting_down: 'try again when it is back.',
};

/** What an id may be. */
const ID_WORDS = '--id takes 1 to 128 of A-Z a-z 0-9 . _ : -, but not "." or "..".';

/** Exit codes of what could not be run, as of env(1) and `docker run`. */
const NOT_RUN: Record<string, number> = {
  command_not_found: 127,
  permission_denied: 126,
  exec_format_error: 126,
};

/** The exit code for what is not the process's own: the gateway, the connection, the command line. */
export const OWN_FAILURE = 125;

/** One line for a person: what, why, its code, and what to do. */
export function failureLine(error: unknown): string {
  if (!(error instanceof GatewayError)) throw error;
  if (error.code === 'unauthorized') {
    return 'The gateway does not take this token, or it was given none: set EXEC_GATEWAY_TOKEN, or give --token-file. [unauthorized]';
  }
  if (error.code === 'invalid_request' && error.fields.field === 'process_id') return `${ID_WORDS} [${error.code}]`;
  return advised({ code: error.code, message: inOwnWords(error.message) }, ADVICE);
}

/** What the gateway says of its calls, in words of the command line. */
function inOwnWords(message: string): string {
  return message
    .replaceAll('DELETE /processes/{process_id}?purge=true', 'exec-gateway rm --force')
    .replaceAll('leave process_id out', 'leave --id out');
}

/** What went wrong, its code, and what to do where that is known. */
export function advised({ message, code }: { message: string; code: string }, advice: Record<string, string>): string {
  return `${message} [${code}]${advice[code] === undefined ? '' : ` (${advice[code]})`}`;
}

/** The exit code of a run that failed with this error. */
export function failureCode(error: unknown): number {
  return error instanceof GatewayError ? (NOT_RUN[error.code] ?? OWN_FAILURE) : OWN_FAILURE;
}
