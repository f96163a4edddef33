import type { ExitReason, FollowOptions, FollowQuery, ProcessInfo, ProcessState, SignalRequest, TtySize } from '../protocol/index.js';
import type { Child, LaunchSpec } from './child.js';
import { FollowCursor } from './follow-cursor.js';
import { HostedProcess, type ProcessHooks } from './hosted-process.js';
import { Pacer } from './pacer.js';
import { StdinQueue } from './stdin-queue.js';
import type { EndedFacts } from './transcript/left-process.js';
import type { Restored } from './transcript/transcript-store.js';

/** What is left of a program that an earlier gateway started: nothing. */
const NO_CHILD: Child = { pid: 0, pause() {}, resume() {}, write() {}, endInput() {}, resize() {}, destroy() {} };

/** As they were started, whatever the clock said; last those of which only their beginning is known. */
export function inOrder({ facts: a }: Restored, { facts: b }: Restored): number {
  const { MAX_VALUE } = Number;
  return (a.index ?? MAX_VALUE) - (b.index ?? MAX_VALUE) || Date.parse(a.created_at) - Date.parse(b.created_at);
}

/** A process that was closed, or lost, before this gateway was started: it is read as any other, from disk. */
export class PastProcess extends HostedProcess {
  readonly #facts: EndedFacts;
  readonly #pacer: Pacer;
  readonly #stdin: StdinQueue;

  constructor({ process_id, facts, writer }: Restored, retain_bytes: number, hooks: ProcessHooks) {
    const { request, cwd, tty, exited, closed_seq, total_bytes, lost_seq } = facts;
    const spec: LaunchSpec = { command: '', path: '', argv: [], cwd, env: {}, pipe_stdin: false, tty, read_bytes: 0 };
    super({ process_id, request, spec, created_at: new Date(facts.created_at), retain_bytes, writer }, hooks);
    this.#facts = facts;
    if (facts.sizes) this.terminal?.restore(facts.sizes);
    // What a power cut took from the end of a process that had closed is lost too.
    const { next_seq } = writer.transcript;
    this.log.restore(exited, closed_seq, total_bytes, lost_seq ?? (next_seq > 0 && next_seq <= closed_seq ? next_seq : undefined));
    this.#pacer = new Pacer(this.log, NO_CHILD);
    this.#pacer.close();
    this.#stdin = new StdinQueue(NO_CHILD, false);
    this.#stdin.accepted_bytes = facts.accepted_bytes;
    this.#stdin.end('process_exited');
  }

  override get state(): ProcessState {
    return 'closed';
  }

  override get running(): boolean {
    return false;
  }

  override get tty(): TtySize | null {
    return this.#facts.tty;
  }

  override get reason(): ExitReason {
    return this.#facts.reason;
  }

  override get stdin(): StdinQueue {
    return this.#stdin;
  }

  override info(): ProcessInfo {
    const { pid = null, started_at = null, exited_at, closed_at, tty } = this.#facts;
    const { state, reason } = this;
    const stdin = { open: false, accepted_bytes: this.#stdin.accepted_bytes };
    return { ...super.info(), state, pid, tty, started_at, exited_at, closed_at, reason, stdin };
  }

  override follow(query: FollowQuery, options: FollowOptions): FollowCursor {
    this.checkCursor(query.after_seq ?? 0);
    return new FollowCursor(this.log, this.#pacer, query, options);
  }

  override expectNoFollower(): void {}

  override signal({ scope }: SignalRequest): void {
    if (scope === 'foreground' && this.tty === null) throw this.noTty('scope foreground');
    throw this.hasEnded('there is nothing left to signal');
  }

  override resize(_size: TtySize): void {
    if (this.tty === null) throw this.noTty('resize');
    throw this.hasEnded('its terminal has no size');
  }

  override terminate(): boolean {
    return false;
  }
}
