import { constants } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { MAX_GRACE_MS } from '../protocol/limits.js';
import { type ConnectionOptions, withConnection } from './connection-options.js';
import { duration } from './duration.js';
import { labelPair, withDetachKeys, withRetry } from './run-options.js';

/** The settings of `exec-gateway ps`. */
export interface PsOptions extends ConnectionOptions {
  all?: true;
  label?: string[];
  json?: true;
  quiet?: true;
}

/** The settings of `exec-gateway logs`. */
export interface LogsOptions extends ConnectionOptions {
  follow?: true;
  tail?: number;
  cast?: true;
  retryFor: number;
}

/** The settings of `exec-gateway attach`. */
export interface AttachOptions extends ConnectionOptions {
  stdin?: true;
  readOnly?: true;
  detachKeys: number[];
  retryFor: number;
}

/** The settings of `exec-gateway kill`. */
export interface KillOptions extends ConnectionOptions {
  signal?: string;
  grace?: number;
}

/** The settings of `exec-gateway rm`. */
export interface RmOptions extends ConnectionOptions {
  force?: true;
}

/** The settings of `exec-gateway wait`. */
export interface WaitOptions extends ConnectionOptions {
  json?: true;
  retryFor: number;
}

/** The `ps` command without its action. */
export function psCommand(): Command {
  const command = new Command('ps')
    .description('List the processes of the gateway.')
    .addOption(new Option('-a, --all', 'those that have ended too, as long as the gateway knows them'))
    .addOption(new Option('--label <key=value>', 'only those with this label; repeatable').argParser(labels))
    .addOption(new Option('--json', 'one line of JSON for each'))
    .addOption(new Option('-q, --quiet', 'their ids alone').conflicts('json'));
  return withConnection(command).addHelpText(
    'after',
    `
  exec-gateway ps
  exec-gateway ps --all --label team=web
  exec-gateway kill $(exec-gateway ps -q --label team=web)`,
  );
}

/** The `logs` command without its action. */
export function logsCommand(): Command {
  const command = new Command('logs')
    .description('Print what a process has printed, as far as it is still held.')
    .argument('<id>', 'its id')
    .addOption(new Option('-f, --follow', 'go on until its output is closed'))
    .addOption(new Option('-n, --tail <lines>', 'begin with its last lines').argParser(lines))
    .addOption(new Option('--cast', 'a recording of its terminal, for asciinema').conflicts(['follow', 'tail']));
  return withRetry(withConnection(command)).addHelpText(
    'after',
    `
Its stdout comes out on stdout, its stderr on stderr. What is no longer held is
told on stderr.

  exec-gateway logs -f nightly
  exec-gateway logs --tail 20 nightly 2>/dev/null
  exec-gateway logs --cast shell > shell.cast`,
  );
}

/** The `attach` command without its action. */
export function attachCommand(): Command {
  const command = new Command('attach')
    .description('Take a process into the foreground.')
    .argument('<id>', 'its id')
    .addOption(new Option('-i, --stdin', 'pass standard input on also where it is no terminal, its end too'))
    .addOption(new Option('--read-only', 'look on only: no keys, no size').conflicts('stdin'));
  return withRetry(withDetachKeys(withConnection(command))).addHelpText(
    'after',
    `
What it has printed comes first, as far as it is still held, then what it
prints. On a terminal the keys go to a process that has one, Ctrl-C too, and
ctrl-p ctrl-q leave it running. A process without a terminal gets lines, and
Ctrl-C leaves it, as it does with --read-only and while the connection is lost.

  exec-gateway attach shell
  exec-gateway attach --detach-keys 'ctrl-]' shell

Exit codes: that of the process, 0 when it was left, 2 for a command line that
cannot be used, 125 for any other failure.`,
  );
}

/** The `kill` command without its action. */
export function killCommand(): Command {
  const command = new Command('kill')
    .description('End processes, with all that they started.')
    .argument('<id...>', 'their ids')
    .addOption(new Option('-s, --signal <name>', 'send this signal instead, such as INT, HUP, KILL or 9').argParser(signal))
    .addOption(
      new Option('--grace <time>', 'how long each has after SIGTERM; then it is killed. 2s unless given')
        .argParser(duration(0, MAX_GRACE_MS))
        .conflicts('signal'),
    );
  return withConnection(command).addHelpText(
    'after',
    `
It returns when they have ended. One that had ended already is no failure,
unless it should have got a signal. Exit codes: 0, 1 when one failed, 2 for a
command line that cannot be used.

  exec-gateway kill nightly
  exec-gateway kill --grace 30s shop-db
  exec-gateway kill -s HUP proxy`,
  );
}

/** The `rm` command without its action. */
export function rmCommand(): Command {
  const command = new Command('rm')
    .description('Forget processes that have ended: their ids are free again.')
    .argument('<id...>', 'their ids')
    .addOption(new Option('-f, --force', 'end those that run, with all that they started'));
  return withConnection(command).addHelpText(
    'after',
    `
What they printed is forgotten too. Exit codes: 0, 1 when one failed, 2 for a
command line that cannot be used.

  exec-gateway rm nightly`,
  );
}

/** The `wait` command without its action. */
export function waitCommand(): Command {
  const command = new Command('wait')
    .description('Wait until processes have ended.')
    .argument('<id...>', 'their ids')
    .addOption(new Option('--json', 'one line of JSON for each as it ends'));
  return withRetry(withConnection(command)).addHelpText(
    'after',
    `
The exit code is that of the last one named; 125 when one is not known, 2 for a
command line that cannot be used.

  exec-gateway wait nightly && echo built`,
  );
}

const labels = (text: string, before: string[] = []): string[] => [...before, labelPair(text).join('=')];

/** The name of a signal, given by that, with or without SIG and in any case, or by the number that it has here. */
function signal(text: string): string {
  const wanted = `SIG${text.toUpperCase().replace(/^SIG/, '')}`;
  const found = Object.entries(constants.signals).find(([name, number]) => name === wanted || text === String(number));
  if (found) return found[0];
  throw new InvalidArgumentError('No signal has this name or number here.');
}

function lines(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number of lines.');
}
