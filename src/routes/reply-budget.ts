import type { ServerResponse } from 'node:http';
import { MAX_SENDING_BYTES } from '../protocol/limits.js';

/** Output of each answer that does not count, in bytes: a small one is given whatever large ones are under way. */
const FREE_BYTES = 64 * 1024;

/**
 * Bounds the output that answers hold until their callers have taken it: what was evicted meanwhile lives on in them. Where there
 * is no room an answer is not refused but short, and its caller reads on from there.
 */
export class ReplyBudget {
  #left = MAX_SENDING_BYTES;

  /** How much output an answer may have now, in bytes. */
  room(max_bytes: number): number {
    return Math.min(max_bytes, Math.max(FREE_BYTES, this.#left));
  }

  /** Counts the output of an answer until it was sent or its caller has left. */
  hold(response: ServerResponse, bytes: number): void {
    const counts = bytes - FREE_BYTES;
    if (counts <= 0 || response.destroyed) return;
    this.#left -= counts;
    response.once('close', () => {
      this.#left += counts;
    });
  }
}
