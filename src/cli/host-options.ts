import { Command, Option } from 'commander';
import { DEFAULT_GRACE_MS, MAX_GRACE_MS } from '../protocol/index.js';
import { duration } from './duration.js';
import { addTranscripts } from './serve-options.js';
import { setting } from './setting.js';

/** Longest time to wait for processes, in milliseconds: a day. */
const MAX_DRAIN_MS = 86_400_000;

/** What all commands about a data directory take. */
interface DirectoryOptions {
  dataDir: string;
}

/** The settings of `exec-gateway host`. */
export interface HostOptions extends DirectoryOptions {
  transcriptBytes: number;
  transcriptTotalBytes: number;
}

/** The settings of `exec-gateway status`. */
export interface StatusOptions extends DirectoryOptions {
  json?: true;
}

/** The settings of `exec-gateway drain`. */
export interface DrainOptions extends DirectoryOptions {
  wait: number;
  grace: number;
}

/** The settings of `exec-gateway doctor`. */
export interface DoctorOptions extends DirectoryOptions {
  repair?: true;
}

function withDataDir(command: Command): Command {
  return command.addOption(setting('--data-dir <dir>', 'the data directory of the gateway').makeOptionMandatory());
}

/** The `host` command without its action: `serve` starts it. */
export function hostCommand(): Command {
  const command = new Command('host').description('Hold the processes of a gateway with a data directory; serve starts it.');
  return addTranscripts(withDataDir(command));
}

/** The `status` command without its action. */
export function statusCommand(): Command {
  const command = new Command('status')
    .description('Tell of the host that holds the processes of a data directory.')
    .addOption(new Option('--json', 'one line of JSON'));
  return withDataDir(command).addHelpText(
    'after',
    `
Exit codes: 0 when a host runs, 1 when none does, 2 for a command line or a
directory that cannot be used.

  exec-gateway status --data-dir /var/lib/exec-gateway`,
  );
}

/** The `drain` command without its action. */
export function drainCommand(): Command {
  const command = new Command('drain')
    .description('End the host of a data directory: no new work, wait for what runs, end what is left.')
    .addOption(
      new Option('--wait <time>', 'how long processes may take to end by themselves').default(0, '0s').argParser(duration(0, MAX_DRAIN_MS)),
    )
    .addOption(
      new Option('--grace <time>', 'how long those that are left have after SIGTERM; then they are killed')
        .default(DEFAULT_GRACE_MS, '2s')
        .argParser(duration(0, MAX_GRACE_MS)),
    );
  return withDataDir(command).addHelpText(
    'after',
    `
From the first moment on the gateway answers new starts with 503; when all has
ended so does the host, and the gateway takes no work until it is started anew.
Exit codes: 0 when no host is left, 1 when it could not be ended, 2 for a
command line or a directory that cannot be used.

  exec-gateway drain --data-dir /var/lib/exec-gateway --wait 10m`,
  );
}

/** The `doctor` command without its action. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('Check a data directory, and repair it where it is asked to.')
    .addOption(new Option('--repair', 'repair what can be repaired'));
  return withDataDir(command).addHelpText(
    'after',
    `
Exit codes: 0 when all is well, also after a repair, 1 when something is wrong,
2 for a command line that cannot be used.

  exec-gateway doctor --data-dir /var/lib/exec-gateway --repair`,
  );
}
