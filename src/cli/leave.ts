import { failureCode, failureLine, OWN_FAILURE } from './call-failure.js';
import { Interrupted } from './interrupted.js';
import type { LocalOutput } from './local-output.js';
import { signalCode } from './signal-relay.js';

/** Ends this program when all it has written is with the system; that it could not be is a failure. */
export async function leave(output: LocalOutput, exit_code: number): Promise<never> {
  await output.close();
  process.exit(exit_code === 0 && output.failed ? OWN_FAILURE : exit_code);
}

/** Ends this program for an error, which a person is told in one line. */
export function leaveFailed(output: LocalOutput, error: unknown): Promise<never> {
  if (error instanceof Interrupted) return leave(output, signalCode(error.signal));
  output.say(failureLine(error));
  return leave(output, failureCode(error));
}
