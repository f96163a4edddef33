import { GatewayError } from '../protocol/error.js';
import { onAbort } from './on-abort.js';

/** How a dropped connection is taken up again; all in milliseconds. */
export interface RetryOptions {
  /** Longest pause before the first attempt. Default 100. */
  first_delay_ms?: number;
  /** Longest pause before any attempt. Default 5000. */
  max_delay_ms?: number;
  /** Time without progress after which the last error is thrown. Default 60000. */
  give_up_ms?: number;
  /** Silence after which a stream counts as dead; the gateway breaks it every 15 s. Default 45000. */
  silence_ms?: number;
  /** Told once when the gateway is out of reach, before the first pause. */
  onLost?: (error: GatewayError) => void;
  /** Told once when it is reached again. */
  onBack?: () => void;
}

/** The settings of {@link RetryOptions} with their defaults. */
export const retrySettings = (given: RetryOptions = {}): Required<RetryOptions> => ({
  first_delay_ms: given.first_delay_ms ?? 100,
  max_delay_ms: given.max_delay_ms ?? 5_000,
  give_up_ms: given.give_up_ms ?? 60_000,
  silence_ms: given.silence_ms ?? 45_000,
  onLost: given.onLost ?? (() => {}),
  onBack: given.onBack ?? (() => {}),
});

/** Whether a later attempt may fare better: the gateway was not reached, or it failed. */
const isPassing = (error: unknown): error is GatewayError => error instanceof GatewayError && error.status >= 500;

/** Exponential back-off with full jitter: many clients that lost one gateway do not come back in step. */
export class Backoff {
  readonly #settings: Required<RetryOptions>;
  #failures = 0;
  #failing_since: number | null = null;
  #lost = false;

  constructor(settings: Required<RetryOptions>) {
    this.#settings = settings;
  }

  /** The gateway answered; whether that achieves anything is not known yet. */
  reached(): void {
    if (this.#lost) this.#settings.onBack();
    this.#lost = false;
  }

  /** Starts over: something was achieved. */
  progress(): void {
    this.reached();
    this.#failures = 0;
    this.#failing_since = null;
  }

  /**
   * Waits before the next attempt.
   * @throws the error when it is not a passing one, or when nothing was achieved for `give_up_ms`; the signal's reason
   */
  async pause(error: unknown, signal?: AbortSignal): Promise<void> {
    const { first_delay_ms, max_delay_ms, give_up_ms } = this.#settings;
    if (!isPassing(error)) throw error;
    const now = performance.now();
    this.#failing_since ??= now;
    if (now - this.#failing_since >= give_up_ms) throw error;
    if (!this.#lost) this.#settings.onLost(error);
    this.#lost = true;
    await sleep(Math.random() * Math.min(max_delay_ms, first_delay_ms * 2 ** this.#failures++), signal);
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal?.reason);
    });
  });
}
