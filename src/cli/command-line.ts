import { CommanderError } from 'commander';
import { OWN_FAILURE } from './call-failure.js';
import { program } from './program.js';
import { SettingError } from './token.js';

/** What a shell is told when the command line or a setting cannot be used. */
const USAGE_ERROR = 2;

const words = process.argv.slice(2);
try {
  await (await program(words)).parseAsync();
} catch (error) {
  if (error instanceof SettingError) process.stderr.write(`exec-gateway: ${error.message}\n`);
  else if (!(error instanceof CommanderError)) throw error;
  // With `run` every code below 125 is that of the command.
  const usage = words[0] === 'run' ? OWN_FAILURE : USAGE_ERROR;
  process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : usage;
}
