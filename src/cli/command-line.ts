import { CommanderError } from 'commander';
import { OWN_FAILURE } from './call-failure.js';
import { checkWords } from './given-bytes.js';
import { program, spokenName } from './program.js';
import { SettingError } from './token.js';

/** What a shell is told when the command line or a setting cannot be used. */
const USAGE_ERROR = 2;

/** A help that its reader does not want whole is no failure; one that cannot be written is. */
const unwritten = ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.exitCode ||= usage;
};

const words = process.argv.slice(2);
// With `run` every code below 125 is that of the command.
const usage = words[0] === 'run' ? OWN_FAILURE : USAGE_ERROR;
// A variable that is set to nothing, as scripts do, names no gateway.
if (process.env.EXEC_GATEWAY_URL === '') delete process.env.EXEC_GATEWAY_URL;
void main();

async function main(): Promise<void> {
  try {
    checkWords(words);
    await (await program(words)).parseAsync();
  } catch (error) {
    if (error instanceof SettingError) process.stderr.write(`${spokenName(words)}: ${error.message}\n`);
    else if (!(error instanceof CommanderError)) throw error;
    for (const stream of [process.stdout, process.stderr]) stream.on('error', unwritten);
    process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : usage;
  }
}
