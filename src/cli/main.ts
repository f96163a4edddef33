#!/usr/bin/env node
import { Command } from 'commander';
import { serve } from './serve.js';
import { type ServeOptions, serveCommand } from './serve-options.js';
import { SettingError } from './token.js';
import { VERSION } from './version.js';

const program = new Command('exec-gateway')
  .description('An HTTP gateway that starts, watches, feeds and ends processes.')
  .version(VERSION)
  .showHelpAfterError('(try: exec-gateway serve --help)');

program.addCommand(serveCommand().action((options: ServeOptions) => serve(options)));

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stderr.write(`exec-gateway: ${error.message}\n`);
  process.exitCode = 2;
}
