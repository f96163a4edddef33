import type { Leave } from '../protocol/leave.js';
import type { Waiter, Waiters } from './waiters.js';

/** What is waited for. */
export interface Awaited<T> {
  /** Gives it, at once or soon, or null to wait on; the last time it gives what there is. */
  take(last: boolean): T | Promise<T> | null;
}

/**
 * Waits until `ready()`, looked at now and after each wake-up, or for `wait_ms` at most.
 * @returns whether it became ready
 * @throws the signal's reason when `leave` is aborted first
 */
export function waitUntil(waiters: Waiters, ready: () => boolean, wait_ms: number, leave?: Leave): Promise<boolean> {
  return waitFor(waiters, { take: (last) => ready() || (last ? false : null) }, wait_ms, leave);
}

/**
 * Waits for something, looked for now and after each wake-up, or for `wait_ms` at most.
 * @throws the signal's reason when `leave` is aborted first
 */
export function waitFor<T>(waiters: Waiters, awaited: Awaited<T>, wait_ms: number, leave?: Leave): Promise<T> {
  if (leave?.aborted) return Promise.reject(leave.reason);
  const now = awaited.take(wait_ms <= 0);
  if (now !== null) return Promise.resolve(now);
  return new Promise<T>((resolve) => new Wait(waiters, awaited, resolve, wait_ms, leave));
}

/** One who waits: an object that is all its listeners itself, since thousands wait for minutes. */
class Wait<T> implements Waiter {
  readonly #waiters: Waiters;
  readonly #awaited: Awaited<T>;
  readonly #resolve: (value: T | Promise<T>) => void;
  readonly #leave: Leave | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(waiters: Waiters, awaited: Awaited<T>, resolve: (value: T | Promise<T>) => void, wait_ms: number, leave?: Leave) {
    this.#waiters = waiters;
    this.#awaited = awaited;
    this.#resolve = resolve;
    this.#leave = leave;
    this.#timer = setTimeout(timeIsUp, wait_ms, this);
    waiters.add(this);
    leave?.addEventListener('abort', this);
  }

  wake(): void {
    const value = this.#awaited.take(false);
    if (value === null) this.#waiters.add(this);
    else this.#end(value);
  }

  timeIsUp(): void {
    this.#end(this.#awaited.take(true) as T | Promise<T>);
  }

  /** The wait is given up. */
  handleEvent(): void {
    this.#end(Promise.reject(this.#leave?.reason));
  }

  #end(value: T | Promise<T>): void {
    clearTimeout(this.#timer);
    this.#waiters.delete(this);
    this.#leave?.removeEventListener('abort', this);
    this.#resolve(value);
  }
}

function timeIsUp(wait: { timeIsUp(): void }): void {
  wait.timeIsUp();
}
