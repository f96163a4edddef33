import type { ErrorCode } from '../../src/protocol/error.js';

/** A reply that is not an error. */
export interface Reply {
  description: string;
  /** By media type; the schema is that of JSON or text. */
  content?: Record<string, { schema: object; example: unknown }>;
  /** Names of shared headers, besides X-Request-Id. */
  headers?: string[];
}

/** What a route's schemas cannot say. */
export interface Operation {
  operationId: string;
  tag: 'Processes' | 'Output' | 'Input' | 'Files' | 'Gateway';
  summary: string;
  description?: string;
  /** An example of the JSON body. */
  example?: unknown;
  /** Whether raw bytes are taken as a body too. */
  octets?: string;
  /** A body that is taken as it is: its media type and an example. */
  upload?: { type: string; example: string };
  /** Whether the body may be left out. */
  bodyOptional?: true;
  /** Names of shared parameters. */
  headers?: string[];
  /** Whether the call takes a ticket in place of the token. */
  ticket?: true;
  /** Whether the call needs no token. */
  open?: true;
  replies: Record<number, Reply>;
  errors: ErrorCode[];
}

const BODY: ErrorCode[] = ['invalid_json', 'payload_too_large', 'unsupported_media_type', 'upload_backpressure'];
const ONE: ErrorCode[] = ['process_not_found', 'uri_too_long'];
const LAUNCH: ErrorCode[] = [
  'invalid_argument',
  'path_outside_root',
  'process_exists',
  'text_file_busy',
  'command_not_found',
  'permission_denied',
  'exec_format_error',
  'cwd_not_found',
  'cwd_not_a_directory',
  'cwd_permission_denied',
  'argument_list_too_long',
  'too_many_processes',
  'resource_exhausted',
];

const TICKET: ErrorCode[] = ['invalid_ticket', 'ticket_expired', 'ticket_for_another'];

/** Sets of errors that go together: of a body, of a path that names a process, of a launch, of a ticket. */
export const CODES = { BODY, ONE, LAUNCH, TICKET };
