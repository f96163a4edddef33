import { isatty } from 'node:tty';
import { failureCode, failureLine, OWN_FAILURE } from './call-failure.js';
import { Interrupted } from './interrupted.js';
import type { LocalOutput } from './local-output.js';
import { signalCode } from './signal-relay.js';

/** Ends this program when all it has written is with the system; that it could not be is a failure. */
export async function leave(output: LocalOutput, exit_code: number): Promise<never> {
  await output.close();
  if (terminalIsGone()) endBySignal();
  process.exit(exit_code === 0 && output.failed ? OWN_FAILURE : exit_code);
}

/** A terminal that was there answers nothing any more. */
function terminalIsGone(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY, fd }) => isTTY && !isatty(fd));
}

/** As any program ends without its terminal. Node's own way sets the terminal back first, and aborts where that fails. */
function endBySignal(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
  process.kill(process.pid, 'SIGKILL'); // under nohup the other one is ignored
}

/** Ends this program for an error, which a person is told in one line. */
export function leaveFailed(output: LocalOutput, error: unknown): Promise<never> {
  if (error instanceof Interrupted) return leave(output, signalCode(error.signal));
  output.say(failureLine(error));
  return leave(output, failureCode(error));
}
