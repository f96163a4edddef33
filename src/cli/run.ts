import { MAX_HOLD_MS } from '../protocol/limits.js';
import { beginCommand } from './begin-command.js';
import { CollectedOutput } from './collected-output.js';
import { Foreground } from './foreground.js';
import { inForeground, type View } from './in-foreground.js';
import { leave, leaveFailed } from './leave.js';
import { localSize, localTerminal } from './local-terminal.js';
import type { RunOptions } from './run-options.js';
import { standardInput } from './standard-input.js';
import { startOnce } from './start-once.js';
import { startRequest } from './start-request.js';
import { TypedInput } from './typed-input.js';

/**
 * Runs a command at the gateway as if it ran here, and ends this program with its exit code.
 * @throws {SettingError} for an address or token that cannot be used
 */
export async function run(argv: string[], options: RunOptions): Promise<void> {
  const began = performance.now();
  const { output, notice, retry, processes } = beginCommand('run', options, options.retryFor);
  const { stdin, tty, detach, json, detachKeys, id } = options;
  try {
    const request = startRequest(argv, options, tty ? localSize() : null);
    const started = await startOnce(processes, request, id === undefined, retry);
    if (detach) {
      await output.write('stdout', Buffer.from(`${json ? JSON.stringify(started) : started.process_id}\n`));
      return await leave(output, 0);
    }
    const terminal = tty && stdin ? localTerminal() : null;
    const leaving = terminal ? { keys: detachKeys, byCtrlC: () => notice.lost } : undefined;
    const input = stdin ? new TypedInput(standardInput(), terminal !== null, leaving) : null;
    const collected = json ? new CollectedOutput() : null;
    const view: View = { output, sink: collected ?? output, notice, terminal, input, resizes: true, pass_signals: true };
    const code = await inForeground(new Foreground(processes, started, retry, MAX_HOLD_MS), view);
    if (collected) {
      const duration_ms = Math.round(performance.now() - began);
      const result = { ...collected.result(await processes.get(started.process_id)), duration_ms };
      await output.write('stdout', Buffer.from(`${JSON.stringify(result)}\n`));
    }
    await leave(output, code);
  } catch (error) {
    await leaveFailed(output, error);
  }
}
