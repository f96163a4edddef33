import { Type } from '@sinclair/typebox';
import { Written } from '../../src/protocol/control.js';
import { EVENT_FRAMES_TYPE } from '../../src/protocol/event-frame.js';
import { Health } from '../../src/protocol/health.js';
import { ReadResult } from '../../src/protocol/output.js';
import { ProcessInfo, ProcessList, Terminated } from '../../src/protocol/process.js';
import { RunResult } from '../../src/protocol/run.js';
import { Screen } from '../../src/protocol/screen.js';
import { Ticket } from '../../src/protocol/ticket.js';
import { ATTACH_OPERATION } from './attach-operation.js';
import { CHANGES, CLOSED, EVENTS, FRAMED_EVENTS, READ, RUNNING, RUNNING_WITH_USAGE, SCREEN, START } from './examples.js';
import { FILE_OPERATIONS } from './file-operations.js';
import { ChangeFrames, EventFrames } from './frames.js';
import { CODES, type Operation, type Reply } from './operation.js';
import { TRANSCRIPT_OPERATIONS } from './transcript-operations.js';
import { TREE_OPERATIONS } from './tree-operations.js';
import { UPLOAD_OPERATIONS } from './upload-operations.js';
import { WATCH_OPERATION } from './watch-operation.js';
import { WEB_OPERATIONS } from './web-operations.js';

const { BODY, ONE, LAUNCH, TICKET } = CODES;
const Text = Type.String();
const Octets = Type.String({ format: 'binary' });

function json(description: string, schema: object, example: unknown, headers: string[] = []): Reply {
  return { description, content: { 'application/json': { schema, example } }, headers };
}

const EMPTY: Reply = { description: 'Done.' };
const RAW_HEADERS = ['Exec-Next-Seq', 'Exec-Exited', 'Exec-Exit-Code', 'Exec-Closed', 'Exec-Gap'];
const RUN_RESULT = {
  process_id: '01981f5c-6f62-7cc1-8f58-0d9a6c1e4b11',
  exit_code: 0,
  signal: null,
  reason: 'exited',
  truncated: false,
  duration_ms: 3.182,
  next_seq: 4,
  stdout: '3\n',
  stderr: '',
};

/** Every operation, by method and path. */
export const OPERATIONS: Record<string, Operation> = {
  'POST /processes': {
    operationId: 'startProcess',
    tag: 'Processes',
    summary: 'Start a process',
    description:
      'Starts a program; no shell is added. The answer comes when the program runs. A program or directory that cannot be used is refused and leaves nothing behind. Give a process_id to find it again, or use PUT, which can be repeated.',
    example: START,
    replies: { 201: json('The process runs.', ProcessInfo, RUNNING, ['Location']) },
    errors: ['invalid_request', ...BODY, ...LAUNCH],
  },
  'PUT /processes/{process_id}': {
    operationId: 'startProcessOnce',
    tag: 'Processes',
    summary: 'Start a process once',
    description:
      'The same as POST /processes, and safe to repeat: the same body finds the process that the first call started, whatever became of it. Bodies are compared as parsed values.',
    example: START,
    replies: {
      200: json('It was started before, by an equal body.', ProcessInfo, CLOSED, ['Location']),
      201: json('The process runs.', ProcessInfo, RUNNING, ['Location']),
    },
    errors: ['invalid_request', 'uri_too_long', ...BODY, ...LAUNCH],
  },
  'POST /run': {
    operationId: 'run',
    tag: 'Processes',
    summary: 'Run a program to its end',
    description:
      'Starts, feeds the input, waits, and answers with the output: one round trip. It answers when the output is closed, or 1 s after the exit when something else holds the pipes. When wait_ms ends first it answers 202 with what there is, and the process goes on under its id.',
    example: { argv: ['wc', '-l'], input: 'a\nb\nc\n' },
    replies: {
      200: json('The program ended.', RunResult, RUN_RESULT),
      202: json('The program goes on.', RunResult, { ...RUN_RESULT, exit_code: null, reason: null, stdout: '', next_seq: 1 }, ['Location']),
    },
    errors: ['invalid_request', ...BODY, ...LAUNCH],
  },
  'GET /processes': {
    operationId: 'listProcesses',
    tag: 'Processes',
    summary: 'List processes',
    description:
      'Oldest first. Closed processes are listed for as long as they are retained. With usage=true each has usage: processor time and memory of a running one, with all it started in its session; the process table is read once for all of them.',
    replies: { 200: json('One page.', ProcessList, { processes: [RUNNING_WITH_USAGE], next_cursor: null }) },
    errors: ['invalid_request', 'invalid_cursor'],
  },
  'GET /processes/{process_id}': {
    operationId: 'getProcess',
    tag: 'Processes',
    summary: 'Look at a process',
    description:
      'Answers at once, or with wait_ms when the program has exited or the time is over. With usage=true it also tells the processor time and memory of a running one.',
    replies: { 200: json('The process.', ProcessInfo, RUNNING_WITH_USAGE) },
    errors: ['invalid_request', ...ONE],
  },
  'DELETE /processes/{process_id}': {
    operationId: 'terminateProcess',
    tag: 'Processes',
    summary: 'End a process',
    description:
      'Sends SIGTERM to the process group, and SIGKILL after grace_ms to what is left of it. It may be repeated: running says whether the process ran when the call came, also where wait_ms saw its end. The process stays readable unless purge is given.',
    replies: { 200: json('Asked to end.', Terminated, { running: true }) },
    errors: ['invalid_request', ...ONE, ...BODY],
  },
  'GET /processes/{process_id}/output': {
    operationId: 'readOutput',
    tag: 'Output',
    summary: 'Read output',
    description:
      'A long-poll: answers at once when there is output after after_seq, when the process exited since, or when all was told; else within wait_ms, perhaps with no chunks. Continue with after_seq = next_seq - 1. With Accept: application/octet-stream or text/plain the body is the bytes alone and the headers tell the rest. With follow=true the bytes are streamed until the output is closed; a follower that falls behind what is retained is cut off with a broken transfer. A ticket opens this address with follow=true only.',
    replies: {
      200: {
        description: 'Output after after_seq. The Exec headers come with raw bytes only; a stream has Exec-Gap alone.',
        content: {
          'application/json': { schema: ReadResult, example: READ },
          'application/octet-stream': { schema: Octets, example: 'hello\n' },
          'text/plain': { schema: Text, example: 'hello\n' },
        },
        headers: RAW_HEADERS,
      },
    },
    ticket: true,
    errors: ['invalid_request', 'invalid_cursor', ...TICKET, 'read_only', ...ONE, 'not_acceptable', 'cursor_ahead'],
  },
  'GET /processes/{process_id}/screen': {
    operationId: 'showScreen',
    tag: 'Output',
    summary: 'Show the screen of a terminal',
    description:
      'What the terminal shows now, or showed at the end: text alone, or JSON with cursor and title. It is drawn from the output that is held, and drawn on for two minutes after it was asked for. With after_seq it waits for news, with quiet_ms until the program has drawn all of it, for wait_ms in all. With paint=true, in JSON, paint makes another terminal of this size show the same; what comes after it follows with after_seq = next_seq - 1.',
    replies: {
      200: {
        description: 'The screen. The Exec headers come with text only.',
        content: {
          'text/plain': { schema: Text, example: '$ make\nmake: Nothing to be done.\n$\n' },
          'application/json': { schema: Screen, example: SCREEN },
        },
        headers: ['Exec-Next-Seq', 'Exec-Screen-Complete'],
      },
    },
    errors: ['invalid_request', 'invalid_cursor', ...ONE, 'not_acceptable', 'not_a_tty', 'screen_too_large', 'cursor_ahead'],
  },
  ...TRANSCRIPT_OPERATIONS,
  'GET /processes/{process_id}/events': {
    operationId: 'followProcess',
    tag: 'Output',
    summary: 'Follow a process',
    description:
      'Server-sent events from after_seq or Last-Event-ID on: output, exited, closed, and gap where output was evicted before it could be sent. The id of an event is its seq; that of a gap is its to_seq. A comment is sent after 15 s of silence. The stream ends after closed; a reader that comes back then gets 204 and stops. With Accept: application/vnd.exec-gateway.events the same events come with their bytes as they are: each is a line of JSON with its event and data, an output has bytes in place of its chunk, and exactly so many bytes follow the line. An empty line is sent after 15 s of silence. This stream is complete only after closed: every other end is a broken transfer.',
    headers: ['Last-Event-ID'],
    replies: {
      200: {
        description: 'Events.',
        content: {
          'text/event-stream': { schema: EventFrames, example: EVENTS },
          [EVENT_FRAMES_TYPE]: { schema: Octets, example: FRAMED_EVENTS },
        },
        headers: ['Exec-Gap'],
      },
      204: { description: 'The cursor has seen closed: there is nothing to come.' },
    },
    ticket: true,
    errors: ['invalid_request', 'invalid_cursor', ...TICKET, 'read_only', ...ONE, 'cursor_ahead'],
  },
  'GET /events': {
    operationId: 'watchProcesses',
    tag: 'Output',
    summary: 'Watch all processes',
    description:
      'Server-sent events: first a snapshot of all processes that match, then their changes: started, exited, closed, removed. With output=true also output and gap, with the process_id in their data. A reader that comes back starts with a new snapshot; with output=true and its Last-Event-ID it then gets all output since that is retained, and a gap for what is not. Rarely some is told twice: seq tells.',
    headers: ['Last-Event-ID'],
    replies: {
      200: { description: 'Events.', content: { 'text/event-stream': { schema: ChangeFrames, example: CHANGES } } },
    },
    errors: ['invalid_request', 'invalid_cursor'],
  },
  'POST /processes/{process_id}/stdin': {
    operationId: 'writeStdin',
    tag: 'Input',
    summary: 'Write to stdin',
    description:
      'Raw bytes as application/octet-stream, or JSON. eof, offset and wait_ms are taken from the query or the JSON, not from both. With offset a write can be repeated: what was accepted already is skipped. When the queue of 1 MiB has no room within wait_ms, it is refused with the count of what was accepted.',
    example: { text: 'hello\n', eof: true },
    octets: 'hello\n',
    bodyOptional: true,
    replies: { 200: json('Accepted.', Written, { accepted: true, accepted_bytes: 6 }) },
    errors: [
      'invalid_request',
      'invalid_argument',
      ...ONE,
      ...BODY,
      'process_exited',
      'stdin_closed',
      'stdin_offset_ahead',
      'stdin_offset_behind',
      'stdin_backpressure',
    ],
  },
  'POST /processes/{process_id}/signal': {
    operationId: 'signalProcess',
    tag: 'Input',
    summary: 'Send a signal',
    example: { signal: 'SIGINT' },
    replies: { 204: EMPTY },
    errors: ['invalid_request', 'invalid_argument', ...ONE, ...BODY, 'process_exited', 'not_a_tty'],
  },
  'POST /processes/{process_id}/resize': {
    operationId: 'resizeTerminal',
    tag: 'Input',
    summary: 'Resize the terminal',
    description: 'All viewers share the one size: the last one to set it wins, and the others are not told.',
    example: { cols: 120, rows: 40 },
    replies: { 204: EMPTY },
    errors: ['invalid_request', ...ONE, ...BODY, 'process_exited', 'not_a_tty'],
  },
  'GET /processes/{process_id}/attach': ATTACH_OPERATION,
  'POST /tickets': {
    operationId: 'makeTicket',
    tag: 'Processes',
    summary: 'Make a ticket for a browser',
    description:
      'A browser opens event streams and WebSockets without headers: give it a ticket in the address instead of the token. It is short-lived and opens one process only, at …/events, …/output with follow=true, and …/attach (the WebSocket). What was opened with it goes on when it expires; to come back then takes a new one.',
    example: { process_id: 'build-42', ttl_ms: 60_000 },
    replies: {
      201: json('The ticket.', Ticket, {
        ticket: 'read.mkf3r7qo.build-42.x3Jq0b5n8W1Zc7uVtYl2kA9fRmE4dHsGpToNiBwLyQU',
        process_id: 'build-42',
        scope: 'read',
        expires_at: '2026-01-15T09:31:00.000Z',
      }),
    },
    errors: ['invalid_request', 'process_not_found', ...BODY],
  },
  ...FILE_OPERATIONS,
  ...TREE_OPERATIONS,
  ...UPLOAD_OPERATIONS,
  'GET /fs/watch': WATCH_OPERATION,
  'GET /exec-server': {
    operationId: 'serveCodex',
    tag: 'Gateway',
    summary: 'Be the executor of Codex',
    description:
      "A WebSocket that speaks the JSON-RPC protocol of Codex's exec-server, over the same processes and files. It takes no Origin header. What is sent and answered there is in docs/codex.md.",
    replies: { 101: { description: 'The connection speaks WebSocket now.' } },
    errors: ['invalid_request', 'upgrade_required'],
  },
  ...WEB_OPERATIONS,
  'GET /healthz': {
    operationId: 'getHealth',
    tag: 'Gateway',
    summary: 'Whether the gateway lives',
    description: 'Needs no token, and tells whether other calls do; also answers during a shutdown.',
    open: true,
    replies: { 200: json('It does.', Health, { status: 'ok', auth: 'token' }) },
    errors: [],
  },
  'GET /readyz': {
    operationId: 'getReadiness',
    tag: 'Gateway',
    summary: 'Whether the gateway takes new work',
    description: 'Needs no token. A gateway in front of another asks that one, for 0.9 s at most.',
    open: true,
    replies: { 200: json('It does.', Type.Object({ status: Type.Literal('ready') }), { status: 'ready' }) },
    errors: ['not_ready', 'shutting_down'],
  },
  'GET /metrics': {
    operationId: 'getMetrics',
    tag: 'Gateway',
    summary: 'Metrics for Prometheus',
    replies: {
      200: {
        description: 'Text format 0.0.4.',
        content: { 'text/plain': { schema: Text, example: 'exec_gateway_processes_running 1\n' } },
      },
    },
    errors: ['invalid_request'],
  },
  'GET /openapi.json': {
    operationId: 'getSpec',
    tag: 'Gateway',
    summary: 'This document',
    replies: { 200: json('OpenAPI 3.1.', Type.Object({ openapi: Type.String() }), { openapi: '3.1.0' }) },
    errors: ['invalid_request', 'not_found'],
  },
};
