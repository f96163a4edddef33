// Finds out, before anything is started, what exec would say: so pipes and terminals refuse alike, and a missing
// directory is never blamed on the program.

import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { type ErrorCode, GatewayError } from '../protocol/index.js';
import { quoted } from '../protocol/quoted.js';

/** What execvp(3) searches when the environment has no PATH. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** Directories of PATH that are looked into: each costs a system call. */
const MAX_PATH_ENTRIES = 1_024;

/** Longest name of a file, in bytes (NAME_MAX, Linux). */
const MAX_NAME_BYTES = 255;

/** Characters of a PATH that a message shows. */
const SHOWN_PATH = 500;

/** What the kernel reads of a script's first line (BINPRM_BUF_SIZE, Linux). */
const FIRST_LINE_BYTES = 256;

/**
 * The absolute working directory.
 * @throws {GatewayError} `cwd_not_found`, `cwd_not_a_directory`, `cwd_permission_denied`
 */
export function resolveCwd(cwd: string | undefined): string {
  const path = resolve(cwd ?? process.cwd());
  try {
    if (statSync(path).isDirectory()) {
      accessSync(path, constants.X_OK);
      return path;
    }
  } catch (error) {
    throw cwdError(path, error);
  }
  throw new GatewayError('cwd_not_a_directory', `cwd ${quoted(path)} is not a directory.`, { field: 'cwd' });
}

const CWD_REFUSALS: Record<string, [ErrorCode, why: string]> = {
  EACCES: ['cwd_permission_denied', 'may not be entered'],
  EPERM: ['cwd_permission_denied', 'may not be entered'],
  ENOTDIR: ['cwd_not_a_directory', 'is not a directory, or lies below something that is none'],
  ELOOP: ['cwd_not_found', 'is a loop of links'],
  ENAMETOOLONG: ['cwd_not_found', 'is too long a name'],
};

/** Turns the system's refusal to enter the directory `path` into the error that a caller can act on. */
export function cwdError(path: string, cause: unknown): GatewayError {
  const [code, why] = CWD_REFUSALS[(cause as NodeJS.ErrnoException).code ?? ''] ?? (['cwd_not_found', 'does not exist'] as const);
  return new GatewayError(code, `cwd ${quoted(path)} ${why}.`, { field: 'cwd' }, { cause });
}

/**
 * The absolute path of the program: `command` itself when it holds a slash, else the first match in `search_path`,
 * relative entries starting at `cwd`.
 * @throws {GatewayError} `command_not_found`, `permission_denied`
 */
export function resolveCommand(command: string, cwd: string, search_path: string | undefined): string {
  if (command.includes('/')) {
    const found = executable(resolve(cwd, command));
    if (found === 'yes') return resolve(cwd, command);
    throw refusal(found, command, 'it');
  }
  const entries = (search_path ?? DEFAULT_PATH).split(':', MAX_PATH_ENTRIES);
  let denied = false;
  for (const directory of Buffer.byteLength(command) > MAX_NAME_BYTES ? [] : entries) {
    const path = resolve(cwd, directory, command);
    const found = executable(path);
    if (found === 'yes') return path;
    denied ||= found === 'denied';
  }
  throw refusal(denied ? 'denied' : 'missing', command, `a file of that name in PATH (${shownPath(search_path ?? DEFAULT_PATH)})`);
}

function shownPath(path: string): string {
  return path.length > SHOWN_PATH ? `${path.slice(0, SHOWN_PATH)}…, of which the first ${MAX_PATH_ENTRIES} directories count` : path;
}

function executable(path: string): 'yes' | 'denied' | 'missing' {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return 'missing';
    if (!found.isFile()) return 'denied';
    accessSync(path, constants.X_OK);
    return 'yes';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EACCES' || code === 'EPERM' ? 'denied' : 'missing';
  }
}

function refusal(found: 'denied' | 'missing', command: string, where: string): GatewayError {
  const name = quoted(command);
  return found === 'denied'
    ? new GatewayError('permission_denied', `argv[0] ${name} may not be executed: it is no file, or lacks the x permission.`, {
        field: 'argv[0]',
      })
    : new GatewayError('command_not_found', `argv[0] ${name} does not exist: looked for ${where}. No shell is added.`, {
        field: 'argv[0]',
      });
}

/**
 * Refuses a script whose interpreter is missing, which exec reports as if the script were.
 * @throws {GatewayError} `command_not_found`, `permission_denied`
 */
export function checkInterpreter(path: string, cwd: string): void {
  const interpreter = /^#![ \t]*([^ \t\n]+)/.exec(firstLine(path))?.[1];
  if (!interpreter) return;
  const found = executable(isAbsolute(interpreter) ? interpreter : resolve(cwd, interpreter));
  if (found === 'yes') return;
  const code = found === 'denied' ? 'permission_denied' : 'command_not_found';
  throw new GatewayError(code, `argv[0] ${quoted(path)} is a script for ${interpreter}, which cannot be executed.`, {
    field: 'argv[0]',
  });
}

function firstLine(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return ''; // executable but not readable: no script can run so
  }
  try {
    const bytes = Buffer.alloc(FIRST_LINE_BYTES);
    return bytes.toString('latin1', 0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}
