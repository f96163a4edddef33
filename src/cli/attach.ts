import { persist, startRetry } from '../client/persist.js';
import { beginCommand } from './begin-command.js';
import { Foreground } from './foreground.js';
import { inForeground } from './in-foreground.js';
import { leave, leaveFailed } from './leave.js';
import { localSize, localTerminal } from './local-terminal.js';
import type { AttachOptions } from './process-options.js';
import { standardInput } from './standard-input.js';
import { TypedInput } from './typed-input.js';

/**
 * Takes a process into the foreground, until it ends or is left, and ends this program with its exit code, or 0.
 * @throws {SettingError} for an address or token that cannot be used
 */
export async function attach(process_id: string, options: AttachOptions): Promise<void> {
  const { stdin, readOnly, detachKeys, retryFor } = options;
  const { output, notice, retry, processes } = beginCommand('attach', options, retryFor);
  try {
    const found = await persist((signal) => processes.get(process_id, {}, { signal }), { retry: startRetry(retry) });
    const terminal = found.tty ? localTerminal() : null;
    const lives = terminal !== null && found.exited_at === null;
    const size = localSize();
    const foreground = new Foreground(processes, found, retry);
    if (lives && size && !readOnly) await foreground.resize(size);
    if (lives) await foreground.beginWithScreen();
    // A read-only view takes keys too: those that leave it.
    const takes = terminal !== null || ((stdin || process.stdin.isTTY) && !readOnly && found.stdin.open);
    const leaving = terminal ? { keys: detachKeys, byCtrlC: () => readOnly === true || notice.lost } : undefined;
    const input = takes ? new TypedInput(standardInput(), true, leaving, readOnly) : null;
    const view = { output, sink: output, notice, terminal, input, resizes: !readOnly, pass_signals: false };
    await leave(output, await inForeground(foreground, view));
  } catch (error) {
    await leaveFailed(output, error);
  }
}
