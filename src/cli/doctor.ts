import { DataDirectory } from '../host/data-directory.js';
import { DIRECTORY_CHECKS } from '../host/directory-checks.js';
import type { DoctorOptions } from './host-options.js';
import { settled } from './serve-host.js';
import { hostStatus } from './status.js';

/**
 * Checks a data directory; repairs what can be when asked to.
 * @throws {SettingError} for a directory that cannot be used at all
 */
export async function doctor({ dataDir, repair: wanted }: DoctorOptions): Promise<void> {
  const directory = await settled(() => DataDirectory.open(dataDir));
  const checked = { directory, host: await hostStatus(directory) };
  for (const { name, find } of DIRECTORY_CHECKS) {
    const lines = find(checked).map(({ what, repair }) => {
      if (wanted && repair) {
        repair();
        return `repaired: ${what}`;
      }
      process.exitCode = 1;
      return `${what}${repair ? ' (--repair puts it right)' : ''}`;
    });
    process.stdout.write([`${name}: ${lines.length === 0 ? 'ok' : ''}`.trimEnd(), ...lines.map((line) => `  ${line}`), ''].join('\n'));
  }
}
