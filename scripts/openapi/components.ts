import { Unpacked } from '../../src/protocol/archive.js';
import { AttachControl, AttachEvent } from '../../src/protocol/attach.js';
import { ATTACH_PROTOCOL } from '../../src/protocol/attach-frame.js';
import { SignalRequest, SignalScope, WriteRequest, Written } from '../../src/protocol/control.js';
import {
  Copied,
  CopyRequest,
  DirectoryEntry,
  DirectoryList,
  FileMetadata,
  FileType,
  MoveRequest,
  Removed,
  Stored,
} from '../../src/protocol/file.js';
import { WATCH_ID } from '../../src/protocol/file-watch.js';
import {
  ChangedData,
  Chunk,
  ClosedData,
  Encoding,
  ExitedData,
  Gap,
  ReadResult,
  RemovedData,
  SnapshotData,
  Stream,
} from '../../src/protocol/output.js';
import { ExitReason, ProcessInfo, ProcessList, ProcessState, ProcessUsage, Terminated } from '../../src/protocol/process.js';
import { RunRequest, RunResult } from '../../src/protocol/run.js';
import { Screen } from '../../src/protocol/screen.js';
import { SearchEnd, SearchMatch } from '../../src/protocol/search.js';
import { Session, SessionRequest } from '../../src/protocol/session.js';
import { EnvPolicy, Labels, ProcessId, StartRequest, TtySize } from '../../src/protocol/start.js';
import { Ticket, TicketRequest, TicketScope } from '../../src/protocol/ticket.js';
import { Upload, UploadId } from '../../src/protocol/upload.js';
import { ERROR_CODES } from './examples.js';

/** The schemas that have a name of their own in the spec. */
export const SCHEMAS: Record<string, object> = {
  ProcessId,
  ProcessState,
  ExitReason,
  ProcessUsage,
  ProcessInfo,
  ProcessList,
  TtySize,
  EnvPolicy,
  Labels,
  StartRequest,
  RunRequest,
  RunResult,
  Stream,
  Encoding,
  Chunk,
  Gap,
  ReadResult,
  Screen,
  ExitedData,
  ClosedData,
  SnapshotData,
  ChangedData,
  RemovedData,
  WriteRequest,
  Written,
  SignalScope,
  SignalRequest,
  AttachControl,
  AttachEvent,
  Terminated,
  TicketScope,
  TicketRequest,
  Ticket,
  SessionRequest,
  Session,
  FileType,
  FileMetadata,
  DirectoryEntry,
  DirectoryList,
  Stored,
  Removed,
  CopyRequest,
  MoveRequest,
  Copied,
  Unpacked,
  SearchMatch,
  SearchEnd,
  UploadId,
  Upload,
  Problem: {
    type: 'object',
    description: 'An error (RFC 9457).',
    required: ['type', 'title', 'status', 'detail', 'code'],
    additionalProperties: false,
    properties: {
      type: { type: 'string', description: 'urn:exec-gateway:error: and the code.' },
      title: { type: 'string', description: 'What the code means.' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: { type: 'string', description: 'What was wrong with which value, what is allowed, and what to do.' },
      code: { type: 'string', enum: ERROR_CODES },
      field: { type: 'string', description: 'The field, parameter or header at fault.' },
      process_id: { type: 'string' },
      path: { type: 'string', description: 'The path at fault, as it was given.' },
      allowed: {
        description: 'What would be accepted.',
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
      },
      limit: { type: 'integer', description: 'The limit that was passed.' },
      accepted_bytes: { type: 'integer', minimum: 0, description: 'Input accepted so far.' },
      next_seq: { type: 'integer', minimum: 1, description: 'The number the next event will take.' },
      etag: { type: 'string', description: 'The entity tag of the file as it is now.' },
      size_bytes: { type: 'integer', minimum: 0, description: 'The size of the file.' },
      unpacked: Unpacked,
      retry_after_ms: { type: 'integer', minimum: 0, description: 'When to try again, in milliseconds.' },
    },
  },
};

const flag = { type: 'string', enum: ['true', 'false'] };

/** Reply headers, by name. */
export const HEADERS: Record<string, { description: string; schema: object }> = {
  'X-Request-Id': { description: 'The id of the request in the log: a plain one of the caller, or a new one.', schema: { type: 'string' } },
  Location: { description: 'Where the process is, or where the parts of the upload go.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string', enum: ['Bearer'] } },
  'Set-Cookie': { description: 'The session, or its end.', schema: { type: 'string' } },
  'Retry-After': { description: 'When to try again, in seconds.', schema: { type: 'string', pattern: '^[0-9]+$' } },
  'Exec-Next-Seq': { description: 'next_seq of the read: continue after this less one.', schema: { type: 'string', pattern: '^[0-9]+$' } },
  'Exec-Exited': { description: 'Whether the exit was told.', schema: flag },
  'Exec-Exit-Code': { description: 'exit_code, once the exit was told.', schema: { type: 'string', pattern: '^[0-9]{1,3}$' } },
  'Exec-Closed': { description: 'Whether everything was told.', schema: flag },
  ETag: { description: 'Strong entity tag of the content.', schema: { type: 'string' } },
  'Last-Modified': { description: 'When the content last changed.', schema: { type: 'string' } },
  'Accept-Ranges': {
    description: 'Ranges are counted in bytes; none where no part can be asked for.',
    schema: { type: 'string', enum: ['bytes', 'none'] },
  },
  'Content-Range': { description: 'Which part of the file this is; with several parts each tells it.', schema: { type: 'string' } },
  'Content-Disposition': {
    description: 'Save it under this name; of a file with download=true, and of one that a browser might run.',
    schema: { type: 'string' },
  },
  'Content-Encoding': { description: 'How the tar is packed; absent when it is not.', schema: { type: 'string', enum: ['gzip', 'zstd'] } },
  Vary: { description: 'The request headers that the reply depends on.', schema: { type: 'string' } },
  'Exec-Metadata': { description: 'The metadata of the content, as one line of JSON (see FileMetadata).', schema: { type: 'string' } },
  'Tus-Resumable': { description: 'The version of tus that is spoken.', schema: { type: 'string', enum: ['1.0.0'] } },
  'Upload-Offset': { description: 'Bytes that are here: send on from there.', schema: { type: 'string', pattern: '^[0-9]+$' } },
  'Upload-Length': { description: 'Bytes the file will have.', schema: { type: 'string', pattern: '^[0-9]+$' } },
  'Upload-Expires': { description: 'When an unfinished upload is given up; absent when it is complete.', schema: { type: 'string' } },
  'Sec-WebSocket-Protocol': {
    description: 'The subprotocol that is spoken; absent when none was offered.',
    schema: { type: 'string', enum: [ATTACH_PROTOCOL] },
  },
  'Exec-Screen-Complete': { description: 'See complete of Screen.', schema: flag },
  'Exec-Gap': {
    description:
      'The gap at the start, as one line of JSON (see Gap); absent without one. A transcript tells all its gaps, with commas between them.',
    schema: { type: 'string' },
  },
};

/** Request headers that ask for a part of a file, or set a condition (RFC 9110 §13, §14). */
const CONDITIONS = [
  ['Range', 'The parts asked for, at most 64.', 'bytes=0-99'],
  ['If-Range', 'The ETag that the content must have for Range to count; else the whole file comes.', '"801-3f2a-6-18a2"'],
  ['If-Match', 'Only when the file has one of these ETags, or is there (*); else 412.', '"801-3f2a-6-18a2"'],
  ['If-None-Match', 'Only when the file has none of these ETags, or is not there (*); else 304 to a read, 412 to a write.', '*'],
  ['If-Modified-Since', 'Only when it has changed since; else 304.', 'Thu, 15 Jan 2026 09:30:00 GMT'],
  ['If-Unmodified-Since', 'Only when it has not changed since; else 412.', 'Thu, 15 Jan 2026 09:30:00 GMT'],
] as const;

/** Request headers, by name. */
export const PARAMETERS: Record<string, object> = {
  'Last-Event-ID': {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The id seen last, as a reconnecting browser sends it. It wins over after_seq; an empty one says that nothing was seen.',
    schema: { type: 'string', pattern: '^(0|[1-9][0-9]{0,15})?$' },
    example: '2',
  },
  ...Object.fromEntries(
    CONDITIONS.map(([name, description, example]) => [name, { name, in: 'header', description, schema: { type: 'string' }, example }]),
  ),
  'Accept-Encoding': {
    name: 'Accept-Encoding',
    in: 'header',
    description: 'How the tar may be packed: gzip, zstd where the gateway has it, identity. Without it, it is not packed.',
    schema: { type: 'string' },
    example: 'gzip',
  },
  'Content-Encoding': {
    name: 'Content-Encoding',
    in: 'header',
    description: 'How the tar is packed; without it its first bytes say so.',
    schema: { type: 'string', enum: ['gzip', 'x-gzip', 'zstd', 'identity'] },
    example: 'gzip',
  },
  'Tus-Resumable': {
    name: 'Tus-Resumable',
    in: 'header',
    description: 'The version of tus that the caller speaks; another is refused with 412. It may be left out.',
    schema: { type: 'string', enum: ['1.0.0'] },
    example: '1.0.0',
  },
  ...Object.fromEntries(
    [
      ['Upload-Length', 'Bytes the file will have.'],
      ['Upload-Offset', 'Where the part begins.'],
    ].map(([name, description]) => [
      name,
      { name, in: 'header', required: true, description, schema: { type: 'string', pattern: '^(0|[1-9][0-9]{0,15})$' }, example: '6' },
    ]),
  ),
  'Sec-WebSocket-Protocol': {
    name: 'Sec-WebSocket-Protocol',
    in: 'header',
    description: 'Subprotocols to choose from; without it, bytes alone are exchanged.',
    schema: { type: 'string' },
    example: ATTACH_PROTOCOL,
  },
  'Last-Event-ID-of-a-watch': {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The id seen last, as a reconnecting browser sends it. It wins over after_id.',
    schema: { type: 'string', pattern: WATCH_ID },
    example: 'k3v0x9q2m1ab-7',
  },
};
