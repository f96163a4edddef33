import { persist, startRetry } from '../client/persist.js';
import type { RetryOptions } from '../client/retry.js';
import { GatewayError } from '../protocol/error.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import type { ScreenOutput } from '../protocol/screen.js';
import { remoteProcesses } from './connect.js';
import { ConnectionNotice } from './connection-notice.js';
import { Foreground } from './foreground.js';
import { inForeground } from './in-foreground.js';
import { leave, leaveFailed } from './leave.js';
import { LocalOutput } from './local-output.js';
import { localSize, localTerminal } from './local-terminal.js';
import { patience } from './patience.js';
import type { AttachOptions } from './process-options.js';
import { TypedInput } from './typed-input.js';

/**
 * Takes a process into the foreground, until it ends or is left, and ends this program with its exit code, or 0.
 * @throws {SettingError} for an address or token that cannot be used
 */
export async function attach(process_id: string, options: AttachOptions): Promise<void> {
  const { stdin, readOnly, detachKeys, retryFor } = options;
  const output = new LocalOutput('attach');
  const notice = new ConnectionNotice(output.say);
  const retry = patience(retryFor, notice);
  const processes = remoteProcesses(options, retry);
  try {
    const found = await persist((signal) => processes.get(process_id, {}, { signal }), { retry: startRetry(retry) });
    const terminal = found.tty ? localTerminal() : null;
    const lives = terminal !== null && found.exited_at === null;
    const size = localSize();
    if (lives && size && !readOnly) await new Foreground(processes, found, retry).resize(size);
    const screen = lives ? await screenOf(processes, process_id, retry) : null;
    const foreground = new Foreground(processes, found, retry, { after_seq: screen ? screen.next_seq - 1 : 0 }, screen?.paint);
    // A read-only view takes keys too: those that leave it.
    const takes = terminal !== null || ((stdin || process.stdin.isTTY) && !readOnly && found.stdin.open);
    const input = takes ? new TypedInput(process.stdin, true, terminal ? detachKeys : [], readOnly) : null;
    const view = { output, sink: output, notice, terminal, input, resizes: !readOnly, pass_signals: false };
    await leave(output, await inForeground(foreground, view));
  } catch (error) {
    await leaveFailed(output, error);
  }
}

/** What the terminal of a process shows, in place of all that it printed; null where there is no showing it. */
async function screenOf(processes: ExecProcess, process_id: string, retry: Required<RetryOptions>): Promise<ScreenOutput | null> {
  try {
    return await persist((signal) => processes.screen(process_id, { paint: true }, { signal }), { retry: startRetry(retry) });
  } catch (error) {
    // Too large a terminal, or a gateway that paints none: then all that is held is printed.
    if (error instanceof GatewayError && error.status < 500) return null;
    throw error;
  }
}
