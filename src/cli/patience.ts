import { type RetryOptions, retrySettings } from '../client/retry.js';
import type { ConnectionNotice } from './connection-notice.js';

/** Silence after which a connection counts as dead, in milliseconds: the gateway breaks it every 15 s. */
const SILENCE_MS = 20_000;

/** Longest pause between two attempts, in milliseconds: a person waits. */
const MAX_DELAY_MS = 2_000;

/** How a command of a person takes up a lost connection. */
export function patience(give_up_ms: number, { onLost, onBack }: ConnectionNotice): Required<RetryOptions> {
  return retrySettings({ give_up_ms, silence_ms: SILENCE_MS, max_delay_ms: MAX_DELAY_MS, onLost, onBack });
}
