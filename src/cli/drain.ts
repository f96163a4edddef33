import { DataDirectory } from '../host/data-directory.js';
import type { Drained } from '../host/words.js';
import { GatewayError } from '../protocol/index.js';
import type { DrainOptions } from './host-options.js';
import { settled } from './serve-host.js';
import { visitHost } from './status.js';

/**
 * Ends the host of a data directory, with its processes.
 * @throws {SettingError}
 */
export async function drain({ dataDir, wait: wait_ms, grace: grace_ms }: DrainOptions): Promise<void> {
  const directory = await settled(() => DataDirectory.open(dataDir));
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const connection = await visitHost(directory);
  if (connection === null) return void say(`no process host runs for ${directory.path}`);
  const { pid } = connection.welcome;
  try {
    const { ended } = await connection.call<Drained>({ call: 'drain', query: { wait_ms, grace_ms } });
    await connection.closed;
    say(`the process host ${pid} has ended${ended === 0 ? '' : `, and ${ended} ${ended === 1 ? 'process' : 'processes'} with it`}`);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    process.stderr.write(
      `exec-gateway drain: the process host ${pid} ended before it said so, or could not be drained: ${error.message}\n`,
    );
    process.exitCode = 1;
  }
}
