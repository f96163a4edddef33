import { Type } from '@sinclair/typebox';
import type { Access } from '../plugins/auth.js';
import { GatewayError } from '../protocol/error.js';
import { DEFAULT_HOLD_MS, DEFAULT_READ_BYTES, MAX_HOLD_MS, MAX_LABELS, MAX_READ_BYTES, MAX_WAIT_MS } from '../protocol/limits.js';
import { Count, Strict } from '../protocol/schema.js';

/** The process a path names. Any text may be asked for: what is not the id of a process is `process_not_found`. */
export const ProcessPath = Type.Object({ process_id: Type.String({ description: 'The key of the process.' }) });

/** For addresses that take no query parameters. */
export const NoQuery = Strict({});

export const AfterSeq = Type.Optional(
  Count('Only what comes after this event: next_seq - 1 of the last answer. 0 is the beginning.', { default: 0 }),
);

/** @param what what is waited for */
export const WaitMs = (what: string) =>
  Type.Optional(Count(`How long to wait for ${what}, in milliseconds; clamped to ${MAX_WAIT_MS}.`, { default: 0 }));

export const MaxBytes = Type.Optional(
  Count(`Output to answer with, in bytes; clamped to ${MAX_READ_BYTES}. The first chunk always comes.`, { default: DEFAULT_READ_BYTES }),
);

export const HoldMs = Type.Optional(
  Count('How long the process waits for this follower when it falls behind, in milliseconds; then output it did not take becomes a gap.', {
    default: DEFAULT_HOLD_MS,
    maximum: MAX_HOLD_MS,
  }),
);

/**
 * Whoever only looks on holds a process back no longer than others do.
 * @throws {GatewayError} `read_only`
 */
export function checkHold(access: Access, hold_ms: number = DEFAULT_HOLD_MS): void {
  if (access !== 'read' || hold_ms <= DEFAULT_HOLD_MS) return;
  const detail = `With a ticket to read, hold_ms is at most ${DEFAULT_HOLD_MS}; got ${hold_ms}. Use the token, or a ticket to write.`;
  throw new GatewayError('read_only', detail, { field: 'hold_ms', limit: DEFAULT_HOLD_MS });
}

export const LabelQuery = Type.Optional(
  Type.Array(Type.String(), {
    maxItems: MAX_LABELS,
    description: 'Only processes with this label, as key=value. Repeat it to ask for several at once.',
  }),
);

/**
 * Checks that labels asked for are pairs.
 * @throws {GatewayError} `invalid_request`
 */
export function labelPairs(label: string[] | undefined): string[] | undefined {
  const bad = label?.find((pair) => pair.indexOf('=') < 1);
  if (bad === undefined) return label;
  throw new GatewayError('invalid_request', `label must be key=value; got ${JSON.stringify(bad.slice(0, 60))}.`, { field: 'label' });
}

/** The wait a caller gets: what it asked for, up to the longest one. */
export function clampWait<T extends number | undefined>(wait_ms: T): T {
  return (wait_ms === undefined ? wait_ms : Math.min(wait_ms, MAX_WAIT_MS)) as T;
}
