import type { HostedProcess } from './hosted-process.js';

/** How long and how much finished processes are remembered. */
export interface RetentionLimits {
  /** How long a closed process stays readable, in milliseconds. */
  retain_closed_ms: number;
  /** How many closed processes stay readable. */
  max_closed: number;
  /** How much closed processes hold together, in bytes: output, and requests beyond 4 KiB each. */
  max_closed_bytes: number;
}

/** How long those of an earlier program are kept in any case, in milliseconds. */
const RESTORED_MS = 2_000;

/** Closed processes, oldest first; forgets them by age, number and size. Running ones never come here. */
export class Retention {
  readonly #limits: RetentionLimits;
  readonly #forget: (process: HostedProcess) => void;
  /** When each was closed, and what it held then, in bytes: what it holds may shrink while it is written to the disk. */
  readonly #closed = new Map<HostedProcess, { at: number; bytes: number }>();
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(limits: RetentionLimits, forget: (process: HostedProcess) => void) {
    this.#limits = limits;
    this.#forget = forget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#closed.size;
  }

  add(process: HostedProcess): void {
    this.#keep(process, 0);
    this.#trim();
  }

  /**
   * Takes one of an earlier program. None is forgotten for a moment: the limits may only be told then.
   * @param age_ms how long it has been closed, in milliseconds; no longer than the one added before
   */
  restore(process: HostedProcess, age_ms: number): void {
    this.#keep(process, age_ms);
    this.#trimIn(RESTORED_MS);
  }

  delete(process: HostedProcess): void {
    this.#bytes -= this.#closed.get(process)?.bytes ?? 0;
    this.#closed.delete(process);
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#closed.clear();
  }

  #keep(process: HostedProcess, age_ms: number): void {
    const bytes = process.held_bytes;
    this.#closed.set(process, { at: performance.now() - age_ms, bytes });
    this.#bytes += bytes;
  }

  #trim(): void {
    const { retain_closed_ms, max_closed, max_closed_bytes } = this.#limits;
    const now = performance.now();
    for (const [process, { at }] of this.#closed) {
      const over = this.#closed.size > max_closed || (this.#bytes > max_closed_bytes && this.#closed.size > 1);
      if (!over && at + retain_closed_ms > now) break;
      this.delete(process);
      this.#forget(process);
    }
    const [next] = this.#closed.values();
    if (next !== undefined) this.#trimIn(Math.max(1, next.at + retain_closed_ms - now));
  }

  #trimIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#trim();
    }, ms).unref();
  }
}
