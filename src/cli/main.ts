#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { serve } from './serve.js';
import { type ServeOptions, serveCommand } from './serve-options.js';
import { SettingError } from './token.js';
import { VERSION } from './version.js';

/** What a shell is told when the command line or a setting cannot be used. */
const USAGE_ERROR = 2;

const program = new Command('exec-gateway')
  .description('An HTTP gateway that starts, watches, feeds and ends processes.')
  .version(VERSION)
  .exitOverride()
  .showHelpAfterError('(try: exec-gateway serve --help)');

program.addCommand(
  serveCommand()
    .copyInheritedSettings(program)
    .action((options: ServeOptions) => serve(options)),
);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof SettingError) process.stderr.write(`exec-gateway: ${error.message}\n`);
  else if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : USAGE_ERROR;
}
