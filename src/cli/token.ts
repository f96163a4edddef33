import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isLoopback } from '../protocol/loopback.js';
import type { ServeOptions } from './serve-options.js';

/** Shortest token that is taken, in characters: below that guessing is in reach. */
const SHORTEST = 16;

/** Why a file cannot be read (errno(3)). */
const UNREADABLE: Record<string, string> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a directory: give a file that holds the token',
  EACCES: 'may not be read by the user of the gateway',
};

/** A setting that cannot be used; its message is for the person at the terminal. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** The bearer token, and how a shell on this machine can name it. */
export interface Token {
  token: string;
  in_shell: string;
  /** Whether it was made here: then whoever sees what `serve` prints is the one to tell it to. */
  made: boolean;
}

/**
 * The bearer token; null when none is asked for.
 * @param variable the value of EXEC_GATEWAY_TOKEN
 * @throws {SettingError} for a token that cannot be read or used, and for an open gateway beyond loopback
 */
export function readToken(options: ServeOptions, variable: string | undefined): Token | null {
  if (!options.auth) {
    if (!local(options))
      throw new SettingError('--no-auth is only for loopback or a unix socket: anyone who reaches the address could run commands.');
    if (options.tokenFile !== undefined) throw new SettingError('--no-auth and --token-file contradict each other: leave one out.');
    return null;
  }
  if (options.tokenFile !== undefined) {
    return {
      token: usable(readSecret(options.tokenFile, '--token-file'), '--token-file'),
      in_shell: `$(cat ${shellWord(options.tokenFile)})`,
      made: false,
    };
  }
  if (variable !== undefined) return { token: usable(variable, 'EXEC_GATEWAY_TOKEN'), in_shell: '$EXEC_GATEWAY_TOKEN', made: false };
  if (!local(options)) {
    throw new SettingError('Listening beyond loopback needs a token of your own: give --token-file, or set EXEC_GATEWAY_TOKEN.');
  }
  const token = randomBytes(24).toString('base64url');
  return { token, in_shell: token, made: true };
}

/**
 * The token of the gateway behind this one, when it has one.
 * @throws {SettingError} for a file that cannot be read, and for a token without a gateway to give it to
 */
export function readUpstreamToken({ upstream, upstreamTokenFile }: ServeOptions): string | undefined {
  if (upstreamTokenFile === undefined) return undefined;
  if (upstream !== undefined) return readSecret(upstreamTokenFile, '--upstream-token-file');
  throw new SettingError('--upstream-token-file is for --upstream: give its URL, or leave the file out.');
}

/**
 * The token for calls of a gateway; undefined when there is none: it may ask for none.
 * @param otherwise the token without a file
 * @throws {SettingError} for a file that cannot be read
 */
export function readCallToken(path: string | undefined, flag: string, otherwise: string | undefined): string | undefined {
  return (path === undefined ? otherwise : readSecret(path, flag)) || undefined;
}

/** Text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * The content of a secret's file, without the line's end.
 * @throws {SettingError}
 */
function readSecret(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new SettingError(`${flag}: ${path} ${UNREADABLE[code] ?? `cannot be read (${code})`}.`, { cause: error });
  }
}

function usable(token: string, from: string): string {
  if (token.length < SHORTEST) throw new SettingError(`${from} holds a token of ${token.length} characters: use at least ${SHORTEST}.`);
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new SettingError(`${from} holds a character that no header can carry: use visible ASCII without spaces.`);
  return token;
}

/** Whether only this machine reaches the address. */
function local({ listen }: Pick<ServeOptions, 'listen'>): boolean {
  return listen.kind === 'unix' || isLoopback(listen.host);
}
