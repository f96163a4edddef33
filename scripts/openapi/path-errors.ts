import type { ErrorCode } from '../../src/protocol/error.js';

/** What any path of a file can meet. */
export const PATH_ERRORS: ErrorCode[] = [
  'invalid_request',
  'invalid_argument',
  'invalid_path',
  'path_too_long',
  'path_outside_root',
  'access_denied',
  'path_not_found',
  'not_a_directory',
  'symlink_loop',
  'file_error',
  'resource_exhausted',
];
