import type {
  Exit,
  ExitReason,
  FollowOptions,
  FollowQuery,
  ProcessInfo,
  ProcessState,
  SignalRequest,
  StartRequest,
  Stream,
  TtySize,
} from '../protocol/index.js';
import { DEFAULT_GRACE_MS, GatewayError, MAX_CHUNK_BYTES } from '../protocol/index.js';
import type { Beginning } from './beginning.js';
import type { Child, ChildEvents, LaunchSpec } from './child.js';
import { Chunker } from './chunker.js';
import { EventLog } from './event-log.js';
import { FollowCursor } from './follow-cursor.js';
import { FREE_ITS_ID } from './free-its-id.js';
import { launch } from './launch.js';
import { Moments } from './moments.js';
import { Pacer } from './pacer.js';
import { ProcessGroup } from './process-group.js';
import { signalName, signalOf } from './signals.js';
import { StdinQueue } from './stdin-queue.js';
import { TerminalHistory } from './terminal-history.js';
import { Termination } from './termination.js';
import type { TranscriptWriter } from './transcript/transcript-writer.js';

/** How long a terminal outlives the program that led it, for what others still print, in milliseconds. */
const TTY_LINGER_MS = 5_000;

/** Turns of the event loop without output after which the exit is told although the output is still open. */
const QUIET_TURNS = 2;
/** Turns after which it is told in any case: others print on and on. */
const MOST_TURNS = 64;

/** A request up to this size, in bytes, is bounded well enough by the number of records. */
const SMALL_REQUEST_BYTES = 4096;

/** Told of what happens to a process. */
export interface ProcessHooks {
  changed(change: 'started' | 'exited' | 'closed', process: HostedProcess): void;
  output(process: HostedProcess, bytes: number): void;
}

/** One process on this machine, from its start until it is forgotten. */
export class HostedProcess {
  readonly process_id: string;
  readonly request: StartRequest;
  readonly log: EventLog;
  readonly writer: TranscriptWriter | null;
  readonly moments = new Moments();
  /** What screens are drawn by; null without a terminal. */
  readonly terminal: TerminalHistory | null;
  readonly created_at: Date;
  /** Rises with every process that was started: its place in the list. 0 before that. */
  index = 0;
  /** Told of each chunk, besides the hooks; its bytes are good until it returns. */
  tap: ((stream: Stream, chunk: Uint8Array) => void) | null = null;
  readonly #hooks: ProcessHooks;
  readonly #spec: LaunchSpec;
  /** The size of what it was started with, in bytes. */
  readonly request_bytes: number;
  readonly #chunkers: Record<Stream, Chunker>;
  #child!: Child;
  #group!: ProcessGroup;
  #pacer!: Pacer;
  #termination!: Termination;
  #stdin!: StdinQueue;
  #tty: TtySize | null;
  #state: ProcessState = 'starting';
  #started_at: Date | null = null;
  #exited_at: Date | null = null;
  #closed_at: Date | null = null;
  #exit: Exit | null = null;
  #reason: ExitReason | null = null;
  #asked: ExitReason | null = null;
  #output_over = false;
  #timeout: NodeJS.Timeout | null = null;
  #linger: NodeJS.Timeout | null = null;

  constructor({ process_id, request, spec, created_at, retain_bytes, writer }: Beginning, hooks: ProcessHooks) {
    this.process_id = process_id;
    this.request = request;
    this.#spec = spec;
    this.created_at = created_at;
    this.#hooks = hooks;
    this.#tty = spec.tty;
    this.terminal = spec.tty && new TerminalHistory(spec.tty);
    this.request_bytes = JSON.stringify(request).length;
    this.writer = writer;
    this.log = new EventLog(request.retain_bytes ?? retain_bytes, writer?.transcript);
    const chunk_bytes = Math.min(MAX_CHUNK_BYTES, Math.max(4096, this.log.retain_bytes));
    const chunker = (stream: Stream) => new Chunker(chunk_bytes, (chunk) => this.#append(stream, chunk));
    this.#chunkers = { stdout: chunker('stdout'), stderr: chunker('stderr'), pty: chunker('pty') };
  }

  /**
   * Starts the program.
   * @throws {GatewayError} as {@link launch} does; the process is then to be forgotten
   */
  async start(): Promise<void> {
    const { timeout_ms, pipe_stdin } = this.request;
    this.#child = await launch(this.#spec, this.#events());
    this.#group = new ProcessGroup(this.#child.pid);
    this.#stdin = new StdinQueue(this.#child, this.#tty !== null || pipe_stdin === true);
    this.#pacer = new Pacer(this.log, this.#child);
    this.writer?.begin(this.log, this.#pacer);
    this.#termination = new Termination({
      group: this.#group,
      log: this.log,
      whole_session: this.#tty !== null,
      exited: () => this.#exit !== null,
      closed: () => this.#closed_at !== null,
      cut: () => this.#child.destroy(),
    });
    this.#state = 'running';
    this.#started_at = new Date();
    if (timeout_ms !== undefined) this.#timeout = setTimeout(() => this.terminate(DEFAULT_GRACE_MS, 'timed_out'), timeout_ms);
    this.#hooks.changed('started', this);
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Whether the program has not ended. */
  get running(): boolean {
    return this.#exit === null;
  }

  /** What its record holds, in bytes: output, and a request that is not small. */
  get held_bytes(): number {
    return this.log.retained_bytes + Math.max(0, this.request_bytes - SMALL_REQUEST_BYTES);
  }

  /** The size of its terminal, also after its end; null without one. */
  get tty(): TtySize | null {
    return this.#tty;
  }

  get reason(): ExitReason | null {
    return this.#reason;
  }

  get stdin(): StdinQueue {
    return this.#stdin;
  }

  /** The process as shown everywhere. */
  info(): ProcessInfo {
    const { log } = this;
    const instant = (date: Date | null) => date?.toISOString() ?? null;
    return {
      process_id: this.process_id,
      state: this.#state,
      pid: this.#child?.pid ?? null,
      argv: this.request.argv,
      arg0: this.request.arg0 ?? null,
      cwd: this.#spec.cwd,
      tty: this.#tty,
      labels: this.request.labels ?? {},
      created_at: this.created_at.toISOString(),
      started_at: instant(this.#started_at),
      exited_at: instant(this.#exited_at),
      closed_at: instant(this.#closed_at),
      exit_code: log.exited?.exit_code ?? null,
      signal: log.exited?.signal ?? null,
      reason: this.#reason,
      first_seq: log.first_seq,
      next_seq: log.next_seq,
      retained_bytes: log.readable_bytes,
      total_bytes: log.total_bytes,
      stdin: { open: this.#stdin?.open ?? false, accepted_bytes: this.#stdin?.accepted_bytes ?? 0 },
    };
  }

  /**
   * A live reader after `after_seq`.
   * @throws {GatewayError} `invalid_cursor`, `cursor_ahead`
   */
  follow(query: FollowQuery, options: FollowOptions): FollowCursor {
    this.checkCursor(query.after_seq ?? 0);
    return new FollowCursor(this.log, this.#pacer, query, options);
  }

  /** Whoever started the process reads it in another way than by following it. */
  expectNoFollower(): void {
    this.#pacer.expectNobody();
  }

  /** @throws {GatewayError} `invalid_cursor`, `cursor_ahead` */
  checkCursor(after_seq: number): void {
    const { next_seq } = this.log;
    if (!Number.isSafeInteger(after_seq) || after_seq < 0) {
      throw new GatewayError('invalid_cursor', `after_seq ${after_seq} is not the number of an event: give next_seq - 1, or 0.`, {
        field: 'after_seq',
      });
    }
    if (after_seq < next_seq) return;
    const detail = `after_seq ${after_seq} is in the future: the last event so far is ${next_seq - 1}. Continue with that, or from 0.`;
    throw new GatewayError('cursor_ahead', detail, { field: 'after_seq', next_seq, process_id: this.process_id });
  }

  /** @throws {GatewayError} `invalid_argument`, `not_a_tty`, `process_exited` */
  signal({ signal, scope = 'group' }: SignalRequest): void {
    const name = signalName(signal);
    if (scope === 'foreground' && this.#tty === null) throw this.noTty('scope foreground');
    const sent =
      scope === 'leader'
        ? this.#group.signalLeader(name)
        : scope === 'group'
          ? this.#group.signal(name)
          : this.#group.signalForeground(name);
    if (!sent) throw this.hasEnded('there is nothing left to signal');
  }

  /** @throws {GatewayError} `not_a_tty`, `process_exited` */
  resize(size: TtySize): void {
    if (this.#tty === null) throw this.noTty('resize');
    if (!this.running) throw this.hasEnded('its terminal has no size');
    this.#child.resize(size);
    this.#tty = { cols: size.cols, rows: size.rows };
    this.terminal?.resized(this.log.next_seq, size);
  }

  /** Ends the process group; returns whether the program was running. */
  terminate(grace_ms: number, reason: ExitReason = 'terminated'): boolean {
    const { running } = this;
    if (running) this.#asked ??= reason;
    this.#termination.begin(grace_ms); // also when all is closed: members of the group may live on
    return running;
  }

  #events(): ChildEvents {
    return {
      output: (stream, bytes) => this.#chunkers[stream].push(bytes),
      exit: (code, signal) => this.#exited(code, signal),
      end: () => {
        for (const chunker of Object.values(this.#chunkers)) chunker.flush();
        this.#output_over = true;
        if (this.log.exited) this.#close();
      },
    };
  }

  #append(stream: Stream, chunk: Uint8Array): void {
    this.log.append(stream, chunk);
    this.terminal?.printed(this.log.next_seq - 1, chunk);
    this.#pacer.appended();
    this.#hooks.output(this, chunk.length);
    this.tap?.(stream, chunk);
  }

  #exited(code: number, signal: number): void {
    this.#exit = { exit_code: signal > 0 ? 128 + signal : code, signal: signal > 0 ? signalOf(signal) : null };
    this.#exited_at = new Date();
    this.#group.leaderReaped();
    this.#stdin.end('process_exited');
    this.#tellExit(0, 0, this.log.next_seq);
  }

  /** What was printed before the exit is read first, unless others keep printing. */
  #tellExit(turns: number, quiet: number, seen_seq: number): void {
    const { next_seq } = this.log;
    const silence = next_seq === seen_seq ? quiet + 1 : 0;
    if (!this.#output_over && silence <= QUIET_TURNS && turns < MOST_TURNS) {
      setImmediate(() => this.#tellExit(turns + 1, silence, next_seq));
      return;
    }
    this.#state = 'exited';
    this.#reason = this.#asked ?? (this.#exit?.signal ? 'signaled' : 'exited');
    this.log.appendExited(this.#exit as Exit);
    this.#hooks.changed('exited', this);
    if (this.#output_over) this.#close();
    else if (this.#tty) this.#linger = setTimeout(() => this.#child.destroy(), TTY_LINGER_MS);
  }

  #close(): void {
    if (this.#timeout) clearTimeout(this.#timeout);
    if (this.#linger) clearTimeout(this.#linger);
    this.#pacer.close();
    this.#child.destroy();
    this.#state = 'closed';
    this.#closed_at = new Date();
    this.log.appendClosed();
    this.#hooks.changed('closed', this);
  }

  protected hasEnded(so: string): GatewayError {
    return new GatewayError('process_exited', `The process has ended: ${so}. ${FREE_ITS_ID}`, { process_id: this.process_id });
  }

  protected noTty(what: string): GatewayError {
    return new GatewayError('not_a_tty', `${what} needs a terminal: start the process with tty.`, { process_id: this.process_id });
  }
}
