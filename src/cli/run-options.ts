import { Command, InvalidArgumentError, Option } from 'commander';
import { MAX_RETAIN_BYTES, MAX_TIMEOUT_MS } from '../protocol/limits.js';
import { type ConnectionOptions, withConnection } from './connection-options.js';
import { detachKeys } from './detach-keys.js';
import { duration } from './duration.js';
import { isText } from './given-bytes.js';
import { setting } from './setting.js';

/** How long a connection that was lost is tried again, in milliseconds. */
export const DEFAULT_RETRY_MS = 300_000;

/** The keys that leave a process on a terminal running. */
const DETACH_KEYS = 'ctrl-p,ctrl-q';

/** The settings of `exec-gateway run`. */
export interface RunOptions extends ConnectionOptions {
  stdin?: true;
  tty?: true;
  cwd?: string;
  env?: Record<string, string>;
  label?: Record<string, string>;
  timeout?: number;
  id?: string;
  detach?: true;
  detachKeys: number[];
  retainBytes?: number;
  retryFor: number;
  json?: true;
}

const NOTES = `
CMD runs at the gateway as if it ran here: what it prints comes out on stdout
and stderr, its exit code is that of this command. No shell is added.

  exec-gateway run -- uname -a
  exec-gateway run -it -- bash
  tar c . | exec-gateway run -i -- tar x -C /srv/app
  exec-gateway run --cwd /srv/app --env DEBUG=1 -- make test
  exec-gateway run --detach --id nightly -- ./build.sh

Ctrl-C, and SIGTERM, SIGHUP and SIGQUIT, are passed on to it; a second one
within 2 s kills it, the third leaves it. Ctrl-Z stops it here and there. With
-it each key is passed on, these too, but ctrl-p ctrl-q, which leave it running;
SIGTERM and SIGHUP then end it, with exit code 143 or 129.

When the connection drops, it goes on at the gateway, and this command takes it
up where it was; what is typed meanwhile arrives then. Ctrl-C (without -it the
second one) and ctrl-p ctrl-q do not wait for that, and leave it running. When
this command is killed (SIGKILL), it goes on too: exec-gateway attach ID.

Exit codes: that of CMD, 128+n for signal n; 127 when CMD does not exist, 126
when it cannot be executed, 125 for all else that is not CMD's own: the
command line, the gateway, output that got lost (CMD's own code when that is
not 0). When whoever reads stdout leaves, CMD gets SIGPIPE.`;

/** The `run` command without its action. */
export function runCommand(): Command {
  const command = new Command('run')
    .description('Run a command at the gateway as if it ran here.')
    .usage('[options] [--] CMD [ARG...]')
    .argument('<cmd...>', 'the program and its arguments')
    .passThroughOptions()
    .addOption(new Option('-i, --stdin', 'pass standard input on'))
    .addOption(new Option('-t, --tty', 'run it on a terminal, of the size and kind of this one').conflicts('json'))
    .addOption(new Option('--cwd <dir>', 'its working directory; else that of the gateway'))
    .addOption(
      new Option('--env <NAME=value>', 'a variable for it, or NAME alone for the value it has here; repeatable').argParser(variable),
    )
    .addOption(new Option('--label <key=value>', 'a label to find it by; repeatable').argParser(label))
    .addOption(new Option('--timeout <time>', 'end it after so long: 500ms, 30s, 5m, 2h').argParser(duration(1, MAX_TIMEOUT_MS)))
    .addOption(new Option('--id <id>', 'its id; run again with the same id and command, it goes on with the process there is'))
    .addOption(new Option('--detach', 'only start it, and print its id; it gets no input').conflicts(['tty', 'stdin']))
    .addOption(new Option('--retain-bytes <n>', 'output that the gateway keeps for it, in bytes').argParser(retained))
    .addOption(new Option('--json', 'print one line of JSON at the end, with the first MiB of its stdout and stderr'));
  return withRetry(withDetachKeys(withConnection(command))).addHelpText('after', NOTES);
}

/** Adds `--retry-for`. */
export function withRetry(command: Command): Command {
  return command.addOption(
    setting('--retry-for <time>', 'how long to try again when the connection is lost')
      .default(DEFAULT_RETRY_MS, '5m')
      .argParser(duration(0, MAX_TIMEOUT_MS)),
  );
}

/** Adds `--detach-keys`. */
export function withDetachKeys(command: Command): Command {
  return command.addOption(
    setting('--detach-keys <keys>', 'keys that leave it running, on a terminal; "" for none')
      .default(detachKeys(DETACH_KEYS), DETACH_KEYS)
      .argParser(detachKeys),
  );
}

function variable(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  if (name === '') throw new InvalidArgumentError('Give NAME=value, or NAME for the value it has here.');
  const value = at < 0 ? process.env[name] : text.slice(at + 1);
  if (at < 0 && value !== undefined && !isText(name, value)) throw new InvalidArgumentError(`The value of ${name} here is not UTF-8.`);
  return value === undefined ? before : { ...before, [name]: value };
}

function label(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [key, value] = labelPair(text);
  return { ...before, [key]: value };
}

/** Takes `key=value` apart. */
export function labelPair(text: string): [key: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Give key=value.');
  return [text.slice(0, at), text.slice(at + 1)];
}

function retained(text: string): number {
  const bytes = Number(text);
  if (/^\d+$/.test(text) && bytes >= 1 && bytes <= MAX_RETAIN_BYTES) return bytes;
  throw new InvalidArgumentError(`Give a whole number of bytes from 1 to ${MAX_RETAIN_BYTES}.`);
}
