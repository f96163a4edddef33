import { type Static, Type } from '@sinclair/typebox';
import { DEFAULT_RUN_BYTES, DEFAULT_RUN_WAIT_MS, MAX_RUN_BYTES, MAX_WAIT_MS } from './limits.js';
import { Encoding } from './output.js';
import { ExitReason, exitFields } from './process.js';
import { Count, Nullable, Strict } from './schema.js';
import { ProcessId, startFields } from './start.js';

/** What to run to its end in one round trip. */
export const RunRequest = Strict(
  {
    ...startFields,
    input: Type.Optional(Type.String({ description: 'Text to feed to stdin, which is then closed.' })),
    input_base64: Type.Optional(Type.String({ description: 'The same as bytes. Not together with input.' })),
    wait_ms: Type.Optional(
      Count(`How long to wait for the end, in milliseconds; clamped to ${MAX_WAIT_MS}.`, { default: DEFAULT_RUN_WAIT_MS }),
    ),
    max_bytes: Type.Optional(
      Count(`Output of each stream to answer with, in bytes: the head is kept; clamped to ${MAX_RUN_BYTES}.`, {
        default: DEFAULT_RUN_BYTES,
      }),
    ),
    encoding: Type.Optional(Encoding),
  },
  { description: 'What to run to its end.' },
);
export type RunRequest = Static<typeof RunRequest>;

/** What came of it. With status 202 the process goes on, and `reason` is null. */
export const RunResult = Strict({
  process_id: ProcessId,
  ...exitFields,
  reason: Nullable(ExitReason),
  stdout: Type.String({ description: 'Standard output, or all output of a terminal.' }),
  stderr: Type.String(),
  truncated: Type.Boolean({ description: 'Whether a stream was longer than max_bytes.' }),
  duration_ms: Type.Number({ minimum: 0, description: 'From the start to the end, or to this answer.' }),
  next_seq: Count('To read on: after_seq = next_seq - 1.', { minimum: 1 }),
});
export type RunResult = Static<typeof RunResult>;

/** {@link RunResult} inside the program: bytes as they are. */
export interface RunOutput extends Omit<RunResult, 'stdout' | 'stderr'> {
  stdout: Uint8Array;
  stderr: Uint8Array;
}
