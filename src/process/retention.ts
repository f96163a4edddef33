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

/** Closed processes, oldest first; forgets them by age, number and size. Running ones never come here. */
export class Retention {
  readonly #limits: RetentionLimits;
  readonly #forget: (process: HostedProcess) => void;
  readonly #closed = new Map<HostedProcess, number>();
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

  /** @param age_ms how long it has been closed, in milliseconds; no longer than the one added before. Default 0 */
  add(process: HostedProcess, age_ms = 0): void {
    this.#closed.set(process, performance.now() + this.#limits.retain_closed_ms - age_ms);
    this.#bytes += process.held_bytes;
    this.#trim();
  }

  delete(process: HostedProcess): void {
    if (this.#closed.delete(process)) this.#bytes -= process.held_bytes;
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#closed.clear();
  }

  #trim(): void {
    const now = performance.now();
    for (const [process, expires] of this.#closed) {
      const over = this.#closed.size > this.#limits.max_closed || (this.#bytes > this.#limits.max_closed_bytes && this.#closed.size > 1);
      if (!over && expires > now) break;
      this.delete(process);
      this.#forget(process);
    }
    const [next] = this.#closed.values();
    if (next === undefined || this.#timer) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#trim();
      },
      Math.max(1, next - now),
    );
    this.#timer.unref();
  }
}
