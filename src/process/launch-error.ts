import { type ErrorCode, GatewayError } from '../protocol/index.js';
import { quoted } from '../protocol/quoted.js';
import type { LaunchSpec } from './child.js';
import { cwdError } from './resolve-command.js';

const CODES: Record<string, ErrorCode> = {
  ENOENT: 'command_not_found',
  ENOTDIR: 'command_not_found',
  ELOOP: 'command_not_found',
  ENAMETOOLONG: 'command_not_found',
  EACCES: 'permission_denied',
  EPERM: 'permission_denied',
  EISDIR: 'permission_denied',
  ENOEXEC: 'exec_format_error',
  ETXTBSY: 'text_file_busy',
  EINVAL: 'exec_format_error',
  ELIBBAD: 'exec_format_error',
  E2BIG: 'argument_list_too_long',
  EMFILE: 'resource_exhausted',
  ENFILE: 'resource_exhausted',
  EAGAIN: 'resource_exhausted',
  ENOMEM: 'resource_exhausted',
  ENXIO: 'resource_exhausted',
  ENOSPC: 'resource_exhausted',
};

const ADVICE: Partial<Record<ErrorCode, string>> = {
  resource_exhausted: 'end a process or try again later',
  text_file_busy: 'it is open for writing, wait until it is closed',
};

/** What the native launcher says besides: where it failed. */
type LaunchFailure = NodeJS.ErrnoException & { stage?: string };

/** Turns the system's refusal to launch into the error that a caller can act on. */
export function launchError(error: unknown, { path, cwd }: LaunchSpec): GatewayError {
  const { code: errno = '', stage } = error as LaunchFailure;
  if (stage === 'cwd') return cwdError(cwd, error);
  const code = (stage === undefined || stage === 'exec' ? CODES[errno] : undefined) ?? 'resource_exhausted';
  const what = ADVICE[code] ?? 'see argv[0]';
  const detail = `${quoted(path)} could not be started (${errno || 'no terminal or process could be had'}): ${what}.`;
  return new GatewayError(code, detail, {}, { cause: error });
}
