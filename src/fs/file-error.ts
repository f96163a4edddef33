import { type ErrorCode, GatewayError } from '../protocol/error.js';
import { showPath } from './path-bytes.js';

/** What the system says (errno(3)), and the code for it. */
const CODES: Record<string, ErrorCode> = {
  ENOENT: 'path_not_found',
  EEXIST: 'path_exists',
  ENOTDIR: 'not_a_directory',
  EISDIR: 'is_a_directory',
  ENOTEMPTY: 'directory_not_empty',
  EACCES: 'access_denied',
  EPERM: 'access_denied',
  EROFS: 'read_only_file_system',
  ENAMETOOLONG: 'path_too_long',
  EILSEQ: 'invalid_path',
  ELOOP: 'symlink_loop',
  EXDEV: 'cross_device',
  ENOSPC: 'no_space',
  EDQUOT: 'no_space',
  EFBIG: 'payload_too_large',
  EBUSY: 'file_busy',
  ETXTBSY: 'file_busy',
  EAGAIN: 'file_busy',
  EMFILE: 'resource_exhausted',
  ENFILE: 'resource_exhausted',
  ENOMEM: 'resource_exhausted',
  ENXIO: 'not_regular_file',
  ENODEV: 'not_regular_file',
};

const REASONS: Partial<Record<ErrorCode, string>> = {
  path_not_found: 'does not exist',
  path_exists: 'exists already',
  not_a_directory: 'is not a directory, or leads through something that is none',
  is_a_directory: 'is a directory',
  directory_not_empty: 'is a directory that is not empty',
  access_denied: 'may not be used so: the system does not permit it to the user of the gateway',
  read_only_file_system: 'is on a read-only file system',
  invalid_path: 'holds a name that the file system cannot keep',
  path_too_long: 'is too long, or a name in it is (255 bytes on most file systems)',
  symlink_loop: 'leads through too many symbolic links',
  cross_device: 'is on another file system: copy it and remove the source',
  no_space: 'does not fit: the file system is full, or a quota is reached',
  payload_too_large: 'is larger than the file system allows',
  file_busy: 'is in use',
  resource_exhausted: 'could not be opened: the machine has no descriptor or memory left; try again later',
  not_regular_file: 'is no regular file',
};

/** The `code` of a system error, or undefined. */
export const errnoOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | null)?.code;

/** The error code that stands for what the system says; `file_error` where no other fits. */
export const fileErrorCode = (error: unknown): ErrorCode =>
  error instanceof GatewayError ? error.code : (CODES[errnoOf(error) ?? ''] ?? 'file_error');

/** An error as the system would have raised it. */
export const systemError = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

/**
 * Turns the system's refusal into the error that a caller can act on. A `GatewayError` passes, and so does what is no
 * system error: a fault of ours, a signal's reason, the failure of a body.
 * @param shown the path as the caller knows it: the system's own message would show ours
 */
export function fileError(error: unknown, shown: string): unknown {
  const errno = errnoOf(error);
  if (error instanceof GatewayError || !isSystemError(error) || errno === undefined) return error;
  const code = fileErrorCode(error);
  const detail = `${shown} ${REASONS[code] ?? 'could not be used'} (${errno}).`;
  return new GatewayError(code, detail, {}, { cause: error });
}

/** The errors that are about a path. */
const ABOUT_PATHS = new Set<ErrorCode>([
  ...Object.values(CODES),
  'file_error',
  'invalid_path',
  'path_outside_root',
  'root_protected',
  'precondition_failed',
  'range_not_satisfiable',
]);

/**
 * The same with the path as a field.
 * @param path as the caller gave it
 */
export function pathError(error: unknown, path: Buffer): unknown {
  const told = fileError(error, showPath(path));
  if (told instanceof GatewayError && ABOUT_PATHS.has(told.code)) told.fields.path ??= path.toString();
  return told;
}

/** Errors of Node's own checks have a code as well, but it is no errno. */
const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && /^E[A-Z0-9]+$/.test(errnoOf(error) ?? '');
