import { accessSync, constants } from 'node:fs';
import { GatewayError } from '../protocol/index.js';
import type { LaunchSpec } from './child.js';

/** Runs the program at its second argument with what follows as argv: exec with another argv[0], which node-pty lacks. */
const PERL = '/usr/bin/perl';
const PERL_EXEC = 'my $path = shift; exec {$path} @ARGV or die "$path: $!\\n";';

/**
 * What to run on a terminal of node-pty, or in a sandbox: the program by its name, which is searched in the child's PATH as it was here, else by way of perl's exec.
 * @throws {GatewayError} `invalid_argument` for another `arg0` on a system without perl
 */
export function withArg0({ command, path, argv }: LaunchSpec): string[] {
  if (argv[0] === command) return [...argv];
  try {
    accessSync(PERL, constants.X_OK);
  } catch {
    throw new GatewayError('invalid_argument', `arg0 on a terminal or in a sandbox needs ${PERL} on this system: leave arg0 out.`, {
      field: 'arg0',
    });
  }
  return [PERL, '-e', PERL_EXEC, path, ...argv];
}
