import { readFileSync } from 'node:fs';
import { GatewayError, type StartRequest } from '../protocol/index.js';
import { quoted } from '../protocol/quoted.js';
import type { Env } from './child-env.js';

/** One argument or variable may be this long, in bytes with its end mark: 32 pages (execve(2), Linux). */
const MAX_STRING_BYTES = 128 * 1024;

/** All arguments and variables together: a quarter of the stack limit, at most 6 MiB (execve(2), Linux). */
const MAX_TOTAL_BYTES = Math.min(6 * 1024 * 1024, Math.max(128 * 1024, stackLimit() / 4));

/** What the kernel adds to the strings: a pointer each, the program's path, auxiliary values. */
const RESERVED_BYTES = 8 * 1024;

/**
 * Refuses text that an operating system cannot take: NUL ends a C string early, "=" ends a variable's name, and a
 * lone surrogate has no UTF-8 form.
 * @throws {GatewayError} `invalid_argument`, naming the field
 */
export function checkText(request: StartRequest): void {
  request.argv.forEach((arg, i) => {
    if (!isPassable(arg)) checkString(arg, `argv[${i}]`);
  });
  if (request.argv[0] === '') throw new GatewayError('invalid_argument', 'argv[0] is empty: name a program.', { field: 'argv[0]' });
  if (request.cwd !== undefined) checkString(request.cwd, 'cwd');
  if (request.arg0 !== undefined) checkString(request.arg0, 'arg0');
  if (typeof request.tty === 'object' && typeof request.tty.term === 'string') checkString(request.tty.term, 'tty.term');
  checkEnv(request.env, 'env');
  checkEnv(request.env_policy?.set, 'env_policy.set');
}

function checkEnv(env: Env | undefined, field: string): void {
  for (const [name, value] of Object.entries(env ?? {})) {
    if (!isPassable(name)) checkString(name, `the name ${quoted(name)} in ${field}`, field);
    if (name === '' || name.includes('=')) {
      throw new GatewayError('invalid_argument', `${field} has the name ${quoted(name)}: a name is not empty and holds no "=".`, {
        field,
      });
    }
    if (!isPassable(value)) checkString(value, fieldOf(field, name));
  }
}

/** Asked first: most text is fine, and its name need not be made. */
const isPassable = (text: string) => !text.includes('\0') && text.isWellFormed();

const fieldOf = (group: string, name: string) => `${group}.${name.slice(0, 100)}`;

function checkString(text: string, what: string, field = what): void {
  if (text.includes('\0')) {
    throw new GatewayError('invalid_argument', `${what} holds a NUL character, which no program can be given: remove it.`, { field });
  }
  if (!text.isWellFormed()) {
    throw new GatewayError('invalid_argument', `${what} holds half a surrogate pair, which has no UTF-8 form: remove it.`, { field });
  }
}

/**
 * Refuses what execve would: the limits are checked before, so that pipes and terminals answer alike.
 * @throws {GatewayError} `argument_list_too_long`
 */
export function checkSize(argv: readonly string[], env: Env): void {
  let total = RESERVED_BYTES;
  argv.forEach((arg, i) => {
    total += stringBytes(arg, () => `argv[${i}]`);
  });
  for (const [name, value] of Object.entries(env)) total += stringBytes(`${name}=${value}`, () => fieldOf('env', name));
  if (total > MAX_TOTAL_BYTES) {
    throw new GatewayError(
      'argument_list_too_long',
      `argv and environment are ${total} bytes together, more than the ${MAX_TOTAL_BYTES} this system passes: use stdin or a file.`,
      { limit: MAX_TOTAL_BYTES },
    );
  }
}

function stringBytes(text: string, named: () => string): number {
  const bytes = Buffer.byteLength(text) + 1;
  if (bytes > MAX_STRING_BYTES) {
    const field = named();
    throw new GatewayError(
      'argument_list_too_long',
      `${field} is ${bytes} bytes, more than the ${MAX_STRING_BYTES} this system passes in one string: use stdin or a file.`,
      { field, limit: MAX_STRING_BYTES },
    );
  }
  return bytes + 8;
}

function stackLimit(): number {
  try {
    const line = /^Max stack size\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return line ? Number(line[1]) : Number.MAX_SAFE_INTEGER;
  } catch {
    return 8 * 1024 * 1024;
  }
}
