import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../protocol/index.js';
import { quoted } from '../../protocol/quoted.js';
import { writeWhole } from './write-whole.js';

/** What is in a data directory, and how: another form has another number. */
const FORMAT = 1;

/** Says which form a directory has. */
const FORMAT_FILE = 'format';

/**
 * Makes a directory ready to keep what is to outlive the program: made with mode 0700 where there is none. One that is refused
 * stays as it is.
 * @throws {GatewayError} `invalid_argument` when it cannot be used, or is that of a newer version
 */
export function openDataDirectory(dir: string): void {
  const file = join(dir, FORMAT_FILE);
  const found = attempt(dir, () => {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    return readFormat(file);
  });
  if (found !== null && found !== String(FORMAT)) {
    const told = /^\d+$/.test(found) && Number(found) > FORMAT ? 'was written by a newer exec-gateway' : 'is not one of exec-gateway';
    throw refused(
      dir,
      `${told}: its ${FORMAT_FILE} is ${quoted(found)}, this version knows ${FORMAT}. Run the version that wrote it, or give another directory`,
    );
  }
  attempt(dir, () => {
    // Half of it would be no form that anyone knows.
    if (found === null) writeWhole(file, `${FORMAT}\n`);
    mkdirSync(join(dir, 'transcripts'), { recursive: true, mode: 0o700 });
  });
}

function readFormat(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * What `what` returns.
 * @throws {GatewayError} `invalid_argument` for what the system says
 */
export function attempt<T>(dir: string, what: () => T): T {
  try {
    return what();
  } catch (cause) {
    throw refused(dir, `cannot be used: ${(cause as Error).message}`, cause);
  }
}

function refused(dir: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_argument', `The data directory ${quoted(dir)} ${why}.`, { field: 'data_dir' }, { cause });
}
