import type { Unpacked } from './archive.js';

/**
 * The error table: every `code` a reply can carry, its HTTP status, and what it means.
 * `docs/errors.md` holds the same rows; a test compares the two.
 */
export const ERRORS = {
  invalid_request: [400, 'The request does not have the documented shape'],
  invalid_json: [400, 'The body is not valid JSON in UTF-8'],
  invalid_argument: [400, 'A value cannot be passed to a process'],
  invalid_cursor: [400, 'The cursor is not one that was given out'],
  invalid_path: [400, 'The path cannot be a path'],
  invalid_archive: [400, 'The body is not a whole tar'],
  invalid_pattern: [400, 'The pattern cannot be used'],
  path_too_long: [400, 'The path or a name in it is too long'],
  unauthorized: [401, 'A valid bearer token or session is required'],
  invalid_ticket: [401, 'The ticket is not one of this gateway'],
  ticket_expired: [401, 'The ticket can no longer be used'],
  ticket_for_another: [403, 'The ticket is for another process'],
  origin_not_allowed: [403, 'Requests from this origin are not allowed'],
  not_same_origin: [403, 'A session takes requests of its own pages alone'],
  invalid_csrf_token: [403, 'The CSRF token is not that of the session'],
  path_outside_root: [403, 'The path leads out of the file root'],
  root_protected: [403, 'The file root itself cannot be replaced or removed'],
  access_denied: [403, 'The system does not permit it'],
  read_only: [403, 'The viewer may only look on'],
  read_only_file_system: [403, 'The file system is read-only'],
  not_found: [404, 'There is no such address'],
  process_not_found: [404, 'There is no such process'],
  path_not_found: [404, 'There is no such file or directory'],
  upload_not_found: [404, 'There is no such upload'],
  method_not_allowed: [405, 'The address does not know this method'],
  not_acceptable: [406, 'The reply cannot be given in the form asked for'],
  request_timeout: [408, 'The request took too long to arrive'],
  process_exists: [409, 'The process id is taken'],
  process_exited: [409, 'The process has ended'],
  stdin_closed: [409, 'The process takes no more input'],
  stdin_offset_ahead: [409, 'The write would leave a hole in the input'],
  stdin_offset_behind: [409, 'Others have written to the input'],
  not_a_tty: [409, 'The process has no terminal'],
  screen_too_large: [409, 'The terminal is too large for its screen to be shown'],
  cursor_ahead: [409, 'The cursor is in the future'],
  text_file_busy: [409, 'The program is being written'],
  upload_offset_mismatch: [409, 'The part does not begin where the upload ends'],
  upload_taken_over: [409, 'Another call took the upload over'],
  path_exists: [409, 'Something is there already'],
  not_a_directory: [409, 'A directory is needed there'],
  is_a_directory: [409, 'It is a directory'],
  not_regular_file: [409, 'It is a fifo, socket or device'],
  directory_not_empty: [409, 'The directory is not empty'],
  copy_into_itself: [409, 'A directory cannot be put into itself'],
  symlink_loop: [409, 'Too many symbolic links on the way'],
  cross_device: [409, 'It is on another file system'],
  file_busy: [409, 'The file is in use'],
  output_evicted: [410, 'Output is no longer held'],
  precondition_failed: [412, 'The condition does not hold'],
  payload_too_large: [413, 'The body is too large'],
  uri_too_long: [414, 'The address is too long'],
  unsupported_media_type: [415, 'The content type is not accepted here'],
  range_not_satisfiable: [416, 'No part of the file is in the range'],
  expectation_failed: [417, 'The Expect header cannot be met'],
  host_not_allowed: [421, 'The Host header does not name this gateway'],
  command_not_found: [422, 'The program does not exist'],
  permission_denied: [422, 'The program may not be executed'],
  exec_format_error: [422, 'The program is not executable on this machine'],
  cwd_not_found: [422, 'The working directory does not exist'],
  cwd_not_a_directory: [422, 'The working directory is not a directory'],
  cwd_permission_denied: [422, 'The working directory may not be entered'],
  argument_list_too_long: [422, 'Arguments and environment exceed what the system can pass'],
  unsafe_archive_entry: [422, 'An entry of the tar would leave the directory'],
  file_error: [422, 'The system could not do it'],
  upgrade_required: [426, 'The address takes a WebSocket'],
  too_many_processes: [429, 'The limit of running processes is reached'],
  too_many_uploads: [429, 'The limit of unfinished uploads is reached'],
  too_many_watches: [429, 'The limit of what is watched is reached'],
  stdin_backpressure: [429, 'The process does not read its input'],
  headers_too_large: [431, 'The request headers are too large'],
  internal: [500, 'The gateway failed'],
  upstream_unreachable: [502, 'The gateway cannot be reached'],
  resource_exhausted: [503, 'The machine has no room for it now'],
  upload_backpressure: [503, 'Too much is being received at once'],
  not_ready: [503, 'The gateway behind this one does not answer'],
  shutting_down: [503, 'The gateway is shutting down'],
  no_space: [507, 'The file system is full'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

/** A machine-readable error name; one row of {@link ERRORS}. */
export type ErrorCode = keyof typeof ERRORS;

/** Extra members of a problem document: what helps the caller to act. */
export interface ProblemFields {
  field?: string;
  process_id?: string;
  path?: string;
  allowed?: string | string[];
  limit?: number;
  accepted_bytes?: number;
  next_seq?: number;
  etag?: string;
  size_bytes?: number;
  unpacked?: Unpacked;
  retry_after_ms?: number;
}

/** The body of every error reply, `application/problem+json` (RFC 9457). */
export interface Problem extends ProblemFields {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
}

/** The media type of {@link Problem}. */
export const PROBLEM_TYPE = 'application/problem+json';

/**
 * The one error of this product: thrown by the core, sent as a problem document, revived by the client.
 * `message` says what was wrong with which value, what is allowed, and what to do.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  /** HTTP status, from the table. */
  readonly status: number;
  readonly fields: ProblemFields;

  constructor(code: ErrorCode, detail: string, fields: ProblemFields = {}, options?: ErrorOptions) {
    super(detail, options);
    this.code = code;
    this.status = ERRORS[code][0];
    this.fields = fields;
  }

  /** The problem document of this error. */
  toProblem(): Problem {
    const [status, title] = ERRORS[this.code];
    return { type: `urn:exec-gateway:error:${this.code}`, title, status, detail: this.message, code: this.code, ...this.fields };
  }

  /** Revives an error from a parsed reply body; null when the value is not a problem of ours. */
  static fromProblem(value: unknown): GatewayError | null {
    if (typeof value !== 'object' || value === null) return null;
    const { code, detail, type: _type, title: _title, status: _status, ...fields } = value as Problem;
    if (typeof detail !== 'string' || !Object.hasOwn(ERRORS, code)) return null;
    return new GatewayError(code, detail, fields);
  }
}
