// Every number a caller can meet, with its unit and the reason for it.

const KIB = 1024;
const MIB = 1024 * KIB;

/** Largest output chunk, in bytes: one read of a pipe; small enough to interleave readers fairly. */
export const MAX_CHUNK_BYTES = 64 * KIB;

/** Output kept in memory per process unless `retain_bytes` says otherwise, in bytes. */
export const DEFAULT_RETAIN_BYTES = MIB;

/** Largest `retain_bytes` a start may ask for, in bytes. */
export const MAX_RETAIN_BYTES = 256 * MIB;

/** Longest wait of one long-poll, in milliseconds: below the 60 s at which common proxies cut a silent request. */
export const MAX_WAIT_MS = 60_000;

/** Default `max_bytes` of one read, in bytes. */
export const DEFAULT_READ_BYTES = MIB;

/** Largest `max_bytes` of one read, in bytes; a larger one is clamped. */
export const MAX_READ_BYTES = 16 * MIB;

/** Default `wait_ms` of `POST /run`, in milliseconds. */
export const DEFAULT_RUN_WAIT_MS = 30_000;

/** Default `max_bytes` of each captured stream of `POST /run`, in bytes. */
export const DEFAULT_RUN_BYTES = MIB;

/** Largest `max_bytes` of `POST /run`, in bytes. */
export const MAX_RUN_BYTES = 16 * MIB;

/** Time after exit at which `POST /run` answers although something else still holds the pipes, in milliseconds. */
export const RUN_LINGER_MS = 1_000;

/** Bytes of stdin that wait for a process to read them. */
export const STDIN_QUEUE_BYTES = MIB;

/** Default `wait_ms` of a stdin write that meets a full queue, in milliseconds. */
export const DEFAULT_STDIN_WAIT_MS = 10_000;

/** Largest message of a viewer that is attached, in bytes: a large paste in one piece. */
export const MAX_ATTACH_MESSAGE_BYTES = 4 * MIB;

/**
 * Default and longest `hold_ms`, in milliseconds: how long a process waits for a follower that falls behind. A reader with a
 * limit of its own (`curl --limit-rate`) takes up to two seconds' worth at once and then nothing so long. A day is as long as
 * a person leaves a pager open.
 */
export const DEFAULT_HOLD_MS = 3_000;
export const MAX_HOLD_MS = 86_400_000;

/** Default `grace_ms` between SIGTERM and SIGKILL, in milliseconds. */
export const DEFAULT_GRACE_MS = 2_000;

/** Largest `grace_ms`, in milliseconds. */
export const MAX_GRACE_MS = 600_000;

/** Largest `timeout_ms`: what a 32-bit timer can hold, in milliseconds (24.8 days). */
export const MAX_TIMEOUT_MS = 2_147_483_647;

/** Default and largest page of `GET /processes`, in processes. */
export const DEFAULT_PAGE = 100;
export const MAX_PAGE = 1_000;

/** Arguments of one process, the program among them. */
export const MAX_ARGUMENTS = 65_536;

/** Variables in `env`, and in `env_policy.set`. */
export const MAX_VARIABLES = 4_096;

/** Length of a working directory, in characters: what a path may have on Linux. */
export const MAX_CWD_CHARACTERS = 4_096;

/** Values and names of fields in one JSON body, and how deep they may nest: more would hold up everyone else while it is parsed. */
export const MAX_BODY_VALUES = 100_000;
export const MAX_BODY_NAMES = 10_000;
export const MAX_BODY_DEPTH = 32;

/** Bytes of all bodies that are being received, beyond the first 64 KiB of each; at least one largest body fits. */
export const MAX_RECEIVING_BYTES = 64 * MIB;

/** Bytes of output in all answers to reads that are being sent, beyond the first 64 KiB of each; beyond it answers are short. */
export const MAX_SENDING_BYTES = 64 * MIB;

/** Labels on one process. */
export const MAX_LABELS = 64;

/** Silence on an event stream after which a comment is sent, in milliseconds: below the 30 s idle cut of strict proxies. */
export const HEARTBEAT_MS = 15_000;

/** Time that a session of a Codex client outlives its connection, in milliseconds: as long as Codex's own server keeps one, and some more. */
export const CODEX_LINGER_MS = 90_000;

/** Largest message of a Codex client, in bytes: a file of 48 MiB in base64, and more. */
export const MAX_CODEX_MESSAGE_BYTES = 68 * MIB;

/** Largest terminal whose screen can be asked for, in cells: each costs some 24 bytes while the screen is kept. */
export const MAX_SCREEN_CELLS = 250_000;

/** Default, shortest and longest `ttl_ms` of a ticket, in milliseconds: long enough to open a stream, and for a browser to come back. */
export const DEFAULT_TICKET_MS = 60_000;
export const MIN_TICKET_MS = 1_000;
export const MAX_TICKET_MS = 600_000;

/** Default, shortest and longest life of a session of the dashboard, in milliseconds: a long day of work; a month at most. */
export const DEFAULT_SESSION_MS = 43_200_000;
export const MIN_SESSION_MS = 1_000;
export const MAX_SESSION_MS = 2_592_000_000;

/** Default and largest page of `GET /fs/directory`, in entries. */
export const DEFAULT_FILE_PAGE = 1_000;
export const MAX_FILE_PAGE = 10_000;

/** Deepest listing of `GET /fs/directory`, in levels. */
export const MAX_TREE_DEPTH = 64;

/** Entries of one tar that is unpacked. */
export const MAX_ARCHIVE_ENTRIES = 1_000_000;

/** Bytes of one tar that is unpacked: more than a disk should take by accident. */
export const MAX_ARCHIVE_BYTES = 256 * 1024 * MIB;

/** A packed tar may unpack to so many times its size... */
export const MAX_ARCHIVE_RATIO = 200;

/** ...and to so much in any case, in bytes: small ones may well be mostly zeros. */
export const FREE_ARCHIVE_BYTES = 256 * MIB;

/** Longest path in a tar, and longest text of a link, in bytes: what Linux takes as a path. */
export const MAX_ARCHIVE_NAME_BYTES = 4_096;

/** Directories below each other in a tree that is archived, unpacked or searched: each holds a descriptor. */
export const MAX_WALK_DEPTH = 256;

/** Default and largest `limit` of a search, in matches. */
export const DEFAULT_SEARCH_MATCHES = 1_000;
export const MAX_SEARCH_MATCHES = 100_000;

/** Default and largest `timeout_ms` of a search, in milliseconds: below the 60 s at which common proxies cut a silent request. */
export const DEFAULT_SEARCH_MS = 10_000;
export const MAX_SEARCH_MS = 60_000;

/** Longest `text` and `glob` of a search, in characters, and the most globs. */
export const MAX_SEARCH_TEXT_CHARS = 1_000;
export const MAX_GLOB_CHARS = 1_000;
export const MAX_GLOBS = 20;

/** Larger files are not searched, in bytes: one would take the time of all. */
export const MAX_SEARCH_FILE_BYTES = 256 * MIB;

/** So much of a line is searched, in bytes: a file without line breaks must not fill memory. */
export const MAX_SEARCH_LINE_BYTES = MIB;

/** So much of a line is shown, in bytes. */
export const MAX_MATCH_TEXT_BYTES = 512;

/** Searches at once; others wait, and their time runs. */
export const MAX_SEARCHES = 4;

/** Watches of one gateway; those of the same directory count once, and one without readers makes room. */
export const MAX_WATCHES = 64;

/** Directories of all watches of one gateway: each takes 4 KB here and one of the system's watches (fs.inotify.max_user_watches). */
export const MAX_WATCHED_DIRECTORIES = 50_000;

/** Entries of all watches of one gateway: each takes about 100 bytes. */
export const MAX_WATCHED_ENTRIES = 1_000_000;

/** Time from the first sign of a change to the look that tells it, in milliseconds: what happens to one path within it is one event. */
export const WATCH_WINDOW_MS = 50;

/** Time that a watch without readers goes on, in milliseconds, so that one whose connection dropped misses nothing. */
export const WATCH_LINGER_MS = 60_000;

/** Events of one watch that are kept for readers to catch up with, in bytes of memory: about 25,000 events. */
export const WATCH_RING_BYTES = 4 * MIB;

/** Unfinished uploads of one gateway. */
export const MAX_UPLOADS = 1_000;

/** Bytes of all unfinished uploads of one gateway, as announced. */
export const MAX_UPLOAD_BYTES = 1024 * 1024 * MIB;

/** Time without a byte after which an unfinished upload is given up, in milliseconds: a day. */
export const UPLOAD_EXPIRY_MS = 86_400_000;
