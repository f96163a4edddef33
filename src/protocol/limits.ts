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

/** Default `grace_ms` between SIGTERM and SIGKILL, in milliseconds. */
export const DEFAULT_GRACE_MS = 2_000;

/** Largest `grace_ms`, in milliseconds. */
export const MAX_GRACE_MS = 600_000;

/** Largest `timeout_ms`: what a 32-bit timer can hold, in milliseconds (24.8 days). */
export const MAX_TIMEOUT_MS = 2_147_483_647;

/** Default and largest page of `GET /processes`, in processes. */
export const DEFAULT_PAGE = 100;
export const MAX_PAGE = 1_000;

/** Labels on one process. */
export const MAX_LABELS = 64;

/** Silence on an event stream after which a comment is sent, in milliseconds: below the 30 s idle cut of strict proxies. */
export const HEARTBEAT_MS = 15_000;

/** Default and largest page of `GET /fs/directory`, in entries. */
export const DEFAULT_FILE_PAGE = 1_000;
export const MAX_FILE_PAGE = 10_000;

/** Deepest listing of `GET /fs/directory`, in levels. */
export const MAX_TREE_DEPTH = 64;
