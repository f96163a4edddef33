import { signal } from '@preact/signals';

/** The time in milliseconds, to the second: what is shown of running things moves with it. */
export const now = signal(Date.now());

/** Lets the clock go while somebody looks. */
export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, 1_000);
}
