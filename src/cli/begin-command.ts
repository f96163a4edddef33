import { type RetryOptions, retrySettings } from '../client/retry.js';
import type { ExecProcess } from '../protocol/exec-process.js';
import { remoteProcesses } from './connect.js';
import { ConnectionNotice } from './connection-notice.js';
import type { ConnectionOptions } from './connection-options.js';
import { LocalOutput } from './local-output.js';

/** Silence after which a connection counts as dead, in milliseconds: the gateway breaks it every 15 s. */
const SILENCE_MS = 20_000;

/** Longest pause between two attempts, in milliseconds: a person waits. */
const MAX_DELAY_MS = 2_000;

/** How long a command that is over in a moment tries again, in milliseconds. */
export const SHORT_RETRY_MS = 5_000;

/** What a command of a person works with. */
interface CommandParts {
  output: LocalOutput;
  notice: ConnectionNotice;
  retry: Required<RetryOptions>;
  processes: ExecProcess;
}

/**
 * Begins a command about processes of a gateway.
 * @param name of the command, for what a person is told
 * @param give_up_ms how long a lost connection is tried again, in milliseconds
 * @throws {SettingError} for an address or token that cannot be used
 */
export function beginCommand(name: string, connection: ConnectionOptions, give_up_ms: number): CommandParts {
  const output = new LocalOutput(name);
  const notice = new ConnectionNotice(output.say);
  const { onLost, onBack } = notice;
  const retry = retrySettings({ give_up_ms, silence_ms: SILENCE_MS, max_delay_ms: MAX_DELAY_MS, onLost, onBack });
  return { output, notice, retry, processes: remoteProcesses(connection, retry) };
}
