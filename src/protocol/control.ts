import { type Static, Type } from '@sinclair/typebox';
import { DEFAULT_STDIN_WAIT_MS, MAX_WAIT_MS } from './limits.js';
import { Count, Strict, Words } from './schema.js';

export const writeFields = {
  eof: Type.Optional(Type.Boolean({ description: 'Close stdin after these bytes (types ^D on a tty).' })),
  offset: Type.Optional(Count('Where these bytes start in the whole input: a range that was already accepted is skipped.')),
  exact: Type.Optional(
    Type.Boolean({
      description: 'Refuse instead of skipping when offset is behind what was accepted: others have written.',
      default: false,
    }),
  ),
  created_at: Type.Optional(
    Type.String({
      maxLength: 32,
      description: 'Write to the process that tells this created_at alone: process_not_found when the id is that of another by now.',
    }),
  ),
  wait_ms: Type.Optional(
    Count(`How long to wait for room in the queue, in milliseconds; clamped to ${MAX_WAIT_MS}.`, { default: DEFAULT_STDIN_WAIT_MS }),
  ),
};

/** A write as JSON: at most one of chunk and text. */
export const WriteRequest = Strict({
  chunk: Type.Optional(Type.String({ description: 'The bytes in base64.' })),
  text: Type.Optional(Type.String({ description: 'The bytes as text.' })),
  ...writeFields,
});
export type WriteRequest = Static<typeof WriteRequest>;

/** Answer to a write. */
export const Written = Strict({
  accepted: Type.Literal(true),
  accepted_bytes: Count('Input accepted so far, in bytes.'),
});
export type Written = Static<typeof Written>;

/** Whom a signal reaches. */
export const SignalScope = Words(['group', 'leader', 'foreground'], {
  default: 'group',
  description: "group: the process group. leader: the program itself. foreground: a terminal's foreground group.",
});
export type SignalScope = Static<typeof SignalScope>;

/** A signal to send: a name with or without SIG, in any case. */
export const SignalRequest = Strict({
  signal: Type.String({ minLength: 1, maxLength: 16, description: 'A name such as SIGINT, int or TERM.' }),
  scope: Type.Optional(SignalScope),
});
export type SignalRequest = Static<typeof SignalRequest>;
