import { Command, CommanderError } from 'commander';
import { type CpOptions, cpCommand } from './cp-options.js';
import { type ServeOptions, serveCommand } from './serve-options.js';
import { SettingError } from './token.js';
import { VERSION } from './version.js';

/** What a shell is told when the command line or a setting cannot be used. */
const USAGE_ERROR = 2;

const program = new Command('exec-gateway')
  .description('An HTTP gateway that starts, watches, feeds and ends processes, and moves files.')
  .version(VERSION)
  .exitOverride()
  .showHelpAfterError('(try: exec-gateway --help)');

program.addCommand(
  serveCommand()
    .copyInheritedSettings(program)
    // Each takes its time to load, and needs nothing of the other.
    .action(async (options: ServeOptions) => (await import('./serve.js')).serve(options)),
);
program.addCommand(
  cpCommand()
    .copyInheritedSettings(program)
    .action(async (paths: string[], options: CpOptions) => (await import('./cp.js')).cp(paths, options)),
);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof SettingError) process.stderr.write(`exec-gateway: ${error.message}\n`);
  else if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : USAGE_ERROR;
}
