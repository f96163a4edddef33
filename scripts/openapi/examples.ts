import { ERRORS, type ErrorCode, GatewayError, type Problem, type ProblemFields } from '../../src/protocol/error.js';

const ID = 'build-42';
const NOTES = 'notes.txt';

/** A running process. */
export const RUNNING = {
  process_id: ID,
  state: 'running',
  pid: 48213,
  argv: ['make', 'all'],
  arg0: null,
  cwd: '/srv/app',
  tty: null,
  labels: { branch: 'main' },
  created_at: '2026-01-15T09:30:00.000Z',
  started_at: '2026-01-15T09:30:00.004Z',
  exited_at: null,
  closed_at: null,
  exit_code: null,
  signal: null,
  reason: null,
  first_seq: 1,
  next_seq: 1,
  retained_bytes: 0,
  total_bytes: 0,
  stdin: { open: false, accepted_bytes: 0 },
};

/** The same, asked with `usage=true`. */
export const RUNNING_WITH_USAGE = { ...RUNNING, usage: { cpu_ms: 5_230, rss_bytes: 148_897_792 } };

/** The same process after its end. */
export const CLOSED = {
  ...RUNNING,
  state: 'closed',
  exited_at: '2026-01-15T09:30:12.481Z',
  closed_at: '2026-01-15T09:30:12.482Z',
  exit_code: 0,
  reason: 'exited',
  next_seq: 4,
  retained_bytes: 6,
  total_bytes: 6,
};

/** A start, as a body. */
export const START = { argv: ['make', 'all'], cwd: '/srv/app', labels: { branch: 'main' } };

/** What `GET …/output` answers. */
export const READ = {
  chunks: [{ seq: 1, stream: 'stdout', chunk: 'aGVsbG8K' }],
  next_seq: 4,
  exited: true,
  exit_code: 0,
  signal: null,
  closed: true,
  gap: null,
};

/** What `GET …/screen` answers. */
export const SCREEN = {
  process_id: ID,
  cols: 80,
  rows: 24,
  cursor: { row: 2, col: 2, visible: true },
  title: null,
  alternate: false,
  text: '$ make\nmake: Nothing to be done.\n$',
  paint: null,
  next_seq: 4,
  complete: true,
};

/** What `GET …/events` streams. */
export const EVENTS = `id: 1
event: output
data: {"seq":1,"stream":"stdout","chunk":"aGVsbG8K"}

id: 2
event: exited
data: {"exit_code":0,"signal":null,"seq":2}

id: 3
event: closed
data: {"seq":3}

`;

/** The same with bytes as they are. */
export const FRAMED_EVENTS = `{"event":"output","seq":1,"stream":"stdout","bytes":6}
hello
{"event":"exited","exit_code":0,"signal":null,"seq":2}
{"event":"closed","seq":3}
`;

/** What `GET /events` streams. */
export const CHANGES = `id: 7
event: snapshot
data: {"processes":[]}

: keep-alive

id: 8
event: removed
data: {"process_id":"${ID}"}

`;

const DETAILS: Record<ErrorCode, [detail: string, fields?: ProblemFields]> = {
  invalid_request: ['argv[1] must be a string; got 1.', { field: 'argv[1]' }],
  invalid_json: ['The body is not JSON, or names a field __proto__: send one JSON value.'],
  invalid_argument: ['argv[1] holds a NUL character, which no program can be given: remove it.', { field: 'argv[1]' }],
  invalid_cursor: ['after_seq must be an integer from 0 to 9007199254740991; got "1e3".', { field: 'after_seq' }],
  invalid_path: ['path holds a NUL character, which no path can: remove it.', { field: 'path' }],
  invalid_archive: [
    'The tar ends in the middle of "src/main.c": send it whole.',
    { path: 'src/main.c', unpacked: { files: 12, directories: 3, links: 0, bytes: 48213 } },
  ],
  invalid_pattern: ['text is no regular expression of RE2: missing closing ): `(foo`.', { field: 'text' }],
  path_too_long: ['A name in path is longer than this file system takes (255 bytes).', { path: NOTES }],
  unauthorized: ['Send the token of this gateway in one header: "Authorization: Bearer TOKEN".'],
  invalid_ticket: ['The ticket is not one that this gateway gave out: ask for a new one by POST /tickets.'],
  ticket_expired: [
    'The ticket was good until 2026-01-15T09:31:00.000Z: ask for a new one by POST /tickets, and continue after the last event.',
  ],
  ticket_for_another: [`The ticket is for the process "${ID}": ask for one of this process by POST /tickets.`, { process_id: ID }],
  origin_not_allowed: [
    'Pages of the origin "https://evil.example" may not call this gateway: allow it with --allow-origin ORIGIN when they should.',
  ],
  not_same_origin: [
    'A request with a session has to come from a page of this gateway, and a browser says that this one did not: programs send "Authorization: Bearer TOKEN" and no cookie.',
  ],
  invalid_csrf_token: ['X-CSRF-Token is missing: send the csrf_token of GET /session.', { field: 'X-CSRF-Token' }],
  path_outside_root: ['"../secret" leads out of the file root: stay below it.', { path: '../secret' }],
  root_protected: ['The file root itself cannot be removed: name something below it.', { path: '/' }],
  access_denied: ['"/etc/shadow": the system does not permit it (EACCES).', { path: '/etc/shadow' }],
  read_only: ['This viewer only looks on (read_only): attach without it to write and steer.'],
  read_only_file_system: ['"/boot/grub.cfg": the file system is read-only (EROFS).', { path: '/boot/grub.cfg' }],
  not_found: ['There is nothing at "/process": GET /openapi.json lists what there is.'],
  process_not_found: [`There is no process "${ID}": it was never started, or it was forgotten after its retention.`, { process_id: ID }],
  path_not_found: ['"notes.txt" does not exist.', { path: NOTES }],
  upload_not_found: ['There is no upload "V1StGXR8Z5jdHi6BmyTq3A" for "big.iso": begin anew.'],
  method_not_allowed: ['"/processes" takes POST, GET, not PATCH.', { allowed: ['POST', 'GET'] }],
  not_acceptable: ['follow=true gives raw bytes only: accept application/octet-stream or text/plain.', { field: 'Accept' }],
  request_timeout: ['The request did not arrive in time: send it again.'],
  process_exists: [`The id "${ID}" was started with another request: choose another, or leave process_id out.`, { process_id: ID }],
  process_exited: ['The process has ended: there is nothing left to signal.', { process_id: ID }],
  stdin_closed: ['Stdin is closed: start the process with pipe_stdin to write to it.', { accepted_bytes: 0 }],
  stdin_offset_ahead: ['offset 12 leaves a hole: 5 bytes are accepted so far. Write from there.', { accepted_bytes: 5 }],
  stdin_offset_behind: [
    'offset 5 is behind the 12 bytes accepted so far: others have written. Send from offset 12.',
    { accepted_bytes: 12 },
  ],
  not_a_tty: ['resize needs a terminal: start the process with tty.', { process_id: ID }],
  screen_too_large: [
    'The terminal has 65535 x 65535 cells; a screen of up to 250000 cells can be shown: resize it.',
    { process_id: ID, limit: 250_000 },
  ],
  cursor_ahead: [
    'after_seq 9 is in the future: the last event so far is 3. Continue with that, or from 0.',
    { field: 'after_seq', next_seq: 4 },
  ],
  text_file_busy: ['"/srv/app/tool" is open for writing and cannot be started: wait until it is written.', { field: 'argv[0]' }],
  upload_offset_mismatch: ['Upload-Offset 12 is not where the upload ends: send on from 5.', { accepted_bytes: 5 }],
  upload_taken_over: ['Another call came for this upload: ask for the offset and send on from there.'],
  path_exists: ['"notes.txt" exists: choose another path.', { path: NOTES }],
  not_a_directory: ['"notes.txt" is not a directory.', { path: NOTES }],
  is_a_directory: ['"src" is a directory: read it at /fs/directory.', { path: 'src' }],
  not_regular_file: ['"/dev/zero" is a char device: only regular files can be read.', { path: '/dev/zero' }],
  directory_not_empty: ['"src" is not empty: give recursive=true to remove it with all it holds.', { path: 'src' }],
  copy_into_itself: ['"src/copy" lies in "src": choose a destination outside of it.', { path: 'src/copy' }],
  symlink_loop: ['"loop" leads over more than 40 symbolic links.', { path: 'loop' }],
  cross_device: ['"/mnt/notes.txt" is on another file system: copy it, then remove the source.', { path: '/mnt/notes.txt' }],
  file_busy: ['"/mnt" is in use (EBUSY).', { path: '/mnt' }],
  output_evicted: ['Output up to event 92 is no longer held: attach again to go on after it.'],
  precondition_failed: ['"notes.txt" is not what If-Match names: look at it again.', { path: NOTES, etag: '"801-3f2a-6-18a2"' }],
  payload_too_large: ['The body is larger than 16777216 bytes: send it in smaller parts.', { limit: 16777216 }],
  uri_too_long: ['A part of the address is longer than 512 characters: ids have at most 128.'],
  unsupported_media_type: ['The body came with Content-Type "text/plain": send it as application/json.', { allowed: ['application/json'] }],
  range_not_satisfiable: ['The file has 6 bytes: no part of it is in the range.', { path: NOTES, size_bytes: 6 }],
  expectation_failed: ['Only "Expect: 100-continue" is known: leave the header out.'],
  host_not_allowed: ['The Host header "evil.example" is not one of this gateway: allow it with --allow-host NAME when it should be.'],
  command_not_found: ['There is no program "mak" in PATH: check argv[0].', { field: 'argv[0]' }],
  permission_denied: ['The program "/etc/hosts" may not be executed: check its mode.', { field: 'argv[0]' }],
  exec_format_error: ['The program "./a.out" is not executable on this machine.', { field: 'argv[0]' }],
  cwd_not_found: ['The working directory "/srv/ap" does not exist.', { field: 'cwd' }],
  cwd_not_a_directory: ['The working directory "/etc/hosts" is not a directory.', { field: 'cwd' }],
  cwd_permission_denied: ['The working directory "/root" may not be entered.', { field: 'cwd' }],
  argument_list_too_long: ['argv[1] is longer than 131071 bytes: pass it by stdin or a file.', { field: 'argv[1]', limit: 131071 }],
  unsafe_archive_entry: [
    '"../.profile" leads out of the directory by its "..": leave it out of the tar.',
    { path: '../.profile', unpacked: { files: 0, directories: 0, links: 0, bytes: 0 } },
  ],
  file_error: ['"/mnt/notes.txt": the system could not do it (EIO).', { path: '/mnt/notes.txt' }],
  upgrade_required: ['This address takes a WebSocket: connect to it with one, or follow the process at …/events.', { field: 'Upgrade' }],
  too_many_processes: ['1000 processes are open, which is the limit: end one, or raise --max-processes.', { limit: 1000 }],
  too_many_uploads: ['1000 uploads are unfinished, which is the limit: finish or give up another one first.', { limit: 1000 }],
  too_many_watches: ['The tree and what else is watched hold more than 50000 directories: watch a smaller one.', { limit: 50000 }],
  stdin_backpressure: ['The process does not read its input: try again later.', { accepted_bytes: 1048576 }],
  headers_too_large: ['The request line and headers are longer than 16 KiB: send less.'],
  internal: ['The gateway failed; its log has the reason under the request id 5f1c-1.'],
  upstream_unreachable: ['The gateway behind this one cannot be reached: try again.'],
  resource_exhausted: ['The machine has no room for another process: end one, or try again.', { retry_after_ms: 1000 }],
  upload_backpressure: [
    'More than 67108864 bytes of bodies are being received at once: send this one later, or in smaller parts.',
    { limit: 67108864, retry_after_ms: 1000 },
  ],
  not_ready: ['The gateway behind this one does not answer as it should: try again.', { retry_after_ms: 1000 }],
  shutting_down: ['The gateway is shutting down and takes no new requests: try again when it is back.'],
  no_space: ['"notes.txt": the file system is full (ENOSPC). The old file is still there.', { path: NOTES }],
};

/** A reply of every error. */
export function problemExample(code: ErrorCode): Problem {
  const [detail, fields] = DETAILS[code];
  return new GatewayError(code, detail, fields).toProblem();
}

/** All codes, in the order of the table. */
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];
