import { GatewayError } from '../protocol/error.js';
import { attempt } from './attempt.js';
import { Backoff, type RetryOptions } from './retry.js';

/** A gateway that was never reached is told of after this long, in milliseconds: it may just be restarting. */
const START_GIVE_UP_MS = 5_000;

/** The slowest line on which a body still counts as on its way, in bytes per millisecond. */
export const BYTES_PER_MS = 16;

/** How long to go on trying. */
export interface Patience {
  retry: Required<RetryOptions>;
  /** How long the call may wait by itself, in milliseconds; `silence_ms` later it counts as lost. Default 0. */
  wait_ms?: number;
  signal?: AbortSignal | undefined;
}

/** Calls again as long as the gateway is not reached, up to `give_up_ms`. For calls that may arrive twice. */
export async function persist<T>(
  call: (signal: AbortSignal, again: boolean) => Promise<T>,
  { retry, wait_ms = 0, signal }: Patience,
): Promise<T> {
  const backoff = new Backoff(retry);
  for (let again = false; ; again = true) {
    try {
      const answer = await attempt((signal) => call(signal, again), wait_ms + retry.silence_ms, signal);
      backoff.reached();
      return answer;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error; // the caller gave up: whether it would be reached is not known
      if (error.code !== 'upstream_unreachable') {
        backoff.reached();
        throw error;
      }
      await backoff.pause(error, signal);
    }
  }
}

/** A call that starts something gives up sooner than one that waits for it. */
export const startRetry = (retry: Required<RetryOptions>): Required<RetryOptions> => ({
  ...retry,
  give_up_ms: Math.min(retry.give_up_ms, START_GIVE_UP_MS),
});
