import type { SignalRequest, Written } from './control.js';
import type { Leave } from './leave.js';
import type { ChangeEvent, Gap, ProcessEvent, ReadOutput, Stream } from './output.js';
import type { ProcessInfo, ProcessList, ProcessState, Terminated } from './process.js';
import type { RunOutput, RunRequest } from './run.js';
import type { ScreenOutput } from './screen.js';
import type { StartRequest, TtySize } from './start.js';
import type { TranscriptContent, TranscriptQuery } from './transcript.js';

/** Every call takes a signal that gives it up; a call given up rejects with the signal's reason. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** The same, for a call that only waits: it may take this instead of `signal`, which may then be made when it is asked for. */
  leave?: Leave | undefined;
}

/** A start: `created` is false when a repeated start-once found the process it had started before. */
export interface Started {
  created: boolean;
  process: ProcessInfo;
}

export interface StartOptions extends CallOptions {
  /** Start once: the same id with an equal request answers with the same process. Default false: `process_exists`. */
  once?: boolean;
}

export interface ListQuery {
  state?: ProcessState | undefined;
  /** `key=value` pairs that must all match. */
  label?: string[] | undefined;
  /** 1..1000, default 100. */
  limit?: number | undefined;
  cursor?: string | undefined;
  /** Also tell what each uses: `usage`. Default false. */
  usage?: boolean | undefined;
}

export interface GetQuery {
  /** How long to wait for the exit, in milliseconds, 0..60000. Default 0. */
  wait_ms?: number | undefined;
  /** Also tell what it uses: `usage`. Default false. */
  usage?: boolean | undefined;
}

export interface ReadQuery {
  /** Read after this event. Default 0: from the beginning. */
  after_seq?: number | undefined;
  /** How long to wait for news, in milliseconds, 0..60000. Default 0. */
  wait_ms?: number | undefined;
  /** Payload at most, in bytes; the first chunk always comes. Default 1 MiB. */
  max_bytes?: number | undefined;
  /** Only this stream. Default all. */
  stream?: Stream | undefined;
}

export interface ScreenQuery {
  /** Wait for an event after this one. Default: not to wait for any. */
  after_seq?: number | undefined;
  /** How long to wait, for news and for quiet together, in milliseconds, 0..60000. Default 0. */
  wait_ms?: number | undefined;
  /** Wait until nothing was printed for so long, in milliseconds, 0..60000. Default 0. */
  quiet_ms?: number | undefined;
  /** Whether to make `paint`. Default false. */
  paint?: boolean | undefined;
}

export interface FollowQuery {
  /** Follow after this event. Default 0: from the beginning. */
  after_seq?: number | undefined;
  stream?: Stream | undefined;
  /** How long the process waits for this follower when it falls behind, in milliseconds, 0..86400000. Default 3000. */
  hold_ms?: number | undefined;
}

export interface FollowOptions extends CallOptions {
  /**
   * Default false: the bytes of a batch stay as they are. True: they are good until the next batch is asked for, or the loop is
   * left; their memory is then filled again, which spares a fast program much collecting of garbage.
   */
  lend?: boolean | undefined;
}

export interface WatchQuery {
  label?: string[] | undefined;
  /** Also the output of the processes, from now on. Default false. */
  output?: boolean | undefined;
  /** With output: the `id` of the last event seen of an earlier watch; all that is retained of the output since is told first. */
  after_id?: number | undefined;
}

export interface WriteOptions {
  eof?: boolean | undefined;
  offset?: number | undefined;
  /** With offset: refuse (`stdin_offset_behind`) instead of skipping when it is behind what was accepted. Default false. */
  exact?: boolean | undefined;
  /** Write to the process with this `created_at` alone: `process_not_found` when the id is that of another by now. */
  created_at?: string | undefined;
  /** How long to wait for room, in milliseconds, 0..60000. Default 10000. */
  wait_ms?: number | undefined;
}

export interface TerminateOptions {
  /** Between SIGTERM and SIGKILL, in milliseconds, 0..600000. Default 2000. */
  grace_ms?: number | undefined;
  /** How long to wait for `closed`, in milliseconds, 0..60000. Default 0. */
  wait_ms?: number | undefined;
  /** Also forget the record, at once. Default false. */
  purge?: boolean | undefined;
}

/** A stream of events in batches, at the reader's pace. Leaving the loop ends it. */
export interface Subscription<Event> extends AsyncIterable<Event[]> {
  /** True when nothing will ever come: the cursor has seen `closed`. */
  readonly ended: boolean;
  /** The gap it starts with, which is its first event too. */
  readonly gap: Gap | null;
}

/**
 * Processes, wherever they run: on this machine, or behind a gateway. Whoever holds one never knows which.
 * All calls reject with a `GatewayError`.
 */
export interface ExecProcess {
  start(request: StartRequest, options?: StartOptions): Promise<Started>;
  /** Starts, feeds, waits. `reason` is null when `wait_ms` ended first: the process goes on. */
  run(request: RunRequest, options?: CallOptions): Promise<RunOutput>;
  list(query?: ListQuery, options?: CallOptions): Promise<ProcessList>;
  /** The process now, or after `wait_ms` at most when it has not exited yet. */
  get(process_id: string, query?: GetQuery, options?: CallOptions): Promise<ProcessInfo>;
  read(process_id: string, query?: ReadQuery, options?: CallOptions): Promise<ReadOutput>;
  /** What the terminal of a process shows, also after its end. */
  screen(process_id: string, query?: ScreenQuery, options?: CallOptions): Promise<ScreenOutput>;
  /** All output that is kept, as there is at this moment. The signal also ends a body that is being read. */
  transcript(process_id: string, query?: TranscriptQuery, options?: CallOptions): Promise<TranscriptContent>;
  /** Resolves when the cursor is known to be good. */
  follow(process_id: string, query?: FollowQuery, options?: FollowOptions): Promise<Subscription<ProcessEvent>>;
  watch(query?: WatchQuery, options?: CallOptions): Promise<AsyncIterable<ChangeEvent[]>>;
  write(process_id: string, bytes: Uint8Array, query?: WriteOptions, options?: CallOptions): Promise<Written>;
  signal(process_id: string, request: SignalRequest, options?: CallOptions): Promise<void>;
  resize(process_id: string, size: TtySize, options?: CallOptions): Promise<void>;
  terminate(process_id: string, query?: TerminateOptions, options?: CallOptions): Promise<Terminated>;
}
