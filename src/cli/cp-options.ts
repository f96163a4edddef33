import { Command, Option } from 'commander';
import { type ConnectionOptions, gatewayUrl, withConnection } from './connection-options.js';
import { setting } from './setting.js';

/** The settings of `exec-gateway cp`. */
export interface CpOptions extends ConnectionOptions {
  toUrl?: string;
  toTokenFile?: string;
  recursive?: true;
  parents?: true;
  json?: true;
}

const NOTES = `
A path of the gateway begins with a colon: ":/etc/hosts" is absolute, ":data"
begins at its file root: the --fs-root of the gateway, and without one "/". Any
other path is of this machine (write "./:x" for a file that begins with a
colon), and "-" is standard input or output; with -r it is a tar.
A directory that is there takes what is copied under its own name.

  exec-gateway cp app.tar.gz :/srv/
  exec-gateway cp -r :/srv/app/logs .
  exec-gateway cp :/etc/hosts - | grep localhost
  pg_dump shop | exec-gateway cp - :/backup/shop.sql
  exec-gateway cp -r :/srv/app :/srv/app.old

The token is that of EXEC_GATEWAY_TOKEN or --token-file. Exit codes: 0, 1 when
something was not copied, 2 for a command line that cannot be used.`;

/** The `cp` command without its action. */
export function cpCommand(): Command {
  const command = new Command('cp')
    .description('Copy files and directories to, from and between gateways.')
    .usage('[options] SRC... DST')
    .argument('<path...>', 'what to copy, and last where to')
    .addOption(new Option('-r, --recursive', 'copy directories with all they hold'))
    .addOption(new Option('--parents', 'make the directories above DST that are missing'))
    .addOption(new Option('--json', 'print what was copied as one line of JSON'));
  return withConnection(command)
    .addOption(setting('--to-url <url>', 'the gateway of DST, where it is another one').argParser(gatewayUrl))
    .addOption(setting('--to-token-file <path>', 'file that holds the token of that one; else the same token'))
    .addHelpText('after', NOTES);
}
