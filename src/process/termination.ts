import type { EventLog } from './event-log.js';
import type { ProcessGroup } from './process-group.js';

/** How often an ending process is looked at, in milliseconds. */
const LOOK_MS = 25;

/** Silence after which the output of a process whose group is gone counts as over, in milliseconds. */
const QUIET_MS = 250;

/** Time after the kill at which output is cut off, whoever still holds it, in milliseconds. */
const CUT_MS = 1_500;

/** When a shell that ignores SIGTERM is hung up once more, in milliseconds: it may have missed the first signal on its way to wait for a line. */
const AGAIN_MS = 500;

/** What a termination needs of its process. */
export interface Terminable {
  readonly group: ProcessGroup;
  readonly log: EventLog;
  /** Whether all groups of the session end with it, as on a terminal. */
  readonly whole_session: boolean;
  exited(): boolean;
  closed(): boolean;
  /** Lets go of the output; `closed` follows when the program has ended. */
  cut(): void;
}

/**
 * Ends a process group, on a terminal all groups of its session: SIGTERM (and SIGHUP for a leader that ignores it on a terminal), then
 * SIGKILL when the grace is over, as long as there is a member. A descendant in a session of its own is not reached: it runs on, but its hold on the output is cut off.
 */
export class Termination {
  readonly #target: Terminable;
  #deadline = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #seen = { next_seq: 0, at: 0 };
  #again_at = Number.POSITIVE_INFINITY;

  constructor(target: Terminable) {
    this.#target = target;
  }

  /** Begins, or hurries up: the sooner of two deadlines counts. */
  begin(grace_ms: number): void {
    const first = this.#deadline === Number.POSITIVE_INFINITY;
    this.#deadline = Math.min(this.#deadline, performance.now() + grace_ms);
    if (first && grace_ms > 0) {
      this.#signal('SIGTERM');
      this.#hangUp();
      this.#signal('SIGCONT'); // a stopped program cannot act on SIGTERM
      this.#again_at = performance.now() + AGAIN_MS;
    }
    if (this.#timer) clearTimeout(this.#timer);
    this.#look();
  }

  /** An interactive shell ignores SIGTERM, and ends as when its terminal closes; a program that handles SIGTERM is left to it. */
  #hangUp(): void {
    const { group, whole_session } = this.#target;
    if (whole_session && group.leaderIgnores('SIGTERM')) group.signalLeader('SIGHUP');
  }

  #signal(name: 'SIGTERM' | 'SIGCONT' | 'SIGKILL'): void {
    const { group, whole_session } = this.#target;
    if (whole_session) group.signalSession(name);
    else group.signal(name);
  }

  #look(): void {
    const { group, log, whole_session } = this.#target;
    const now = performance.now();
    this.#timer = null;
    const alive = whole_session ? group.sessionAlive() : group.alive();
    if (this.#target.closed() && !alive) return;
    if (alive && now >= this.#deadline) this.#signal('SIGKILL');
    else if (now >= this.#again_at) {
      this.#again_at = Number.POSITIVE_INFINITY;
      this.#hangUp();
    }
    if (log.next_seq !== this.#seen.next_seq || alive) this.#seen = { next_seq: log.next_seq, at: now };
    const over = this.#target.exited() && !alive && now - this.#seen.at >= QUIET_MS;
    if (over || now >= this.#deadline + CUT_MS) this.#target.cut();
    else this.#timer = setTimeout(() => this.#look(), LOOK_MS);
  }
}
