import type { Waiters } from './waiters.js';

/**
 * Waits until `ready()`, looked at now and after each wake-up, or for `wait_ms` at most.
 * @returns whether it became ready
 * @throws the signal's reason when `signal` is aborted first
 */
export function waitUntil(waiters: Waiters, ready: () => boolean, wait_ms: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  if (ready()) return Promise.resolve(true);
  if (wait_ms <= 0) return Promise.resolve(false);
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      waiters.delete(look);
      signal?.removeEventListener('abort', abort);
    };
    const look = () => {
      if (ready()) {
        leave();
        resolve(true);
      } else {
        waiters.add(look);
      }
    };
    const abort = () => {
      leave();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      leave();
      resolve(ready());
    }, wait_ms);
    waiters.add(look);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
