import { mkdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { native } from '../process/native.js';

/** Bytes of a socket's path (sun_path of unix(7), less its end mark). */
const LONGEST_SOCKET_PATH = 107;

/** A data directory that cannot be used; its message is for the person at the terminal. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}

/** The directory in which a gateway keeps what outlives it, and finds the host of its processes. */
export class DataDirectory {
  /** Absolute, links followed. */
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Where the host listens. */
  get socket(): string {
    return join(this.path, 'host.sock');
  }

  /** Held by the host as long as it lives; its content is its pid. */
  get host_lock(): string {
    return join(this.path, 'host.lock');
  }

  /** Held by the gateway that the host works for. */
  get front_lock(): string {
    return join(this.path, 'front.lock');
  }

  /** What the host says of itself. */
  get log(): string {
    return join(this.path, 'host.log');
  }

  /**
   * Makes it, with mode 0700, where it is missing.
   * @throws {DataDirectoryError} when it is not this user's alone, or this machine lacks what it needs
   */
  static make(path: string): DataDirectory {
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new DataDirectoryError(`The data directory ${path} cannot be used: ${(error as Error).message}.`, { cause: error });
    }
    return DataDirectory.open(path);
  }

  /**
   * Takes one that is there.
   * @throws {DataDirectoryError} also when nothing is there
   */
  static open(path: string): DataDirectory {
    if (native === null) {
      throw new DataDirectoryError(
        'a data directory needs the native part of exec-gateway, which was not built here: npm rebuild exec-gateway says why (Linux 5.3 or newer, python3, make, g++).',
      );
    }
    const problem = ownershipProblem(path, statsOf(path));
    if (problem !== null) throw new DataDirectoryError(problem);
    const directory = new DataDirectory(realpathSync(path));
    const bytes = Buffer.byteLength(directory.socket);
    if (bytes <= LONGEST_SOCKET_PATH) return directory;
    throw new DataDirectoryError(
      `${directory.socket} is too long for a socket: ${bytes} bytes of ${LONGEST_SOCKET_PATH}. Give a shorter path.`,
    );
  }
}

/** What is wrong with a directory that has to be this user's alone; null when it is well. */
export function ownershipProblem(path: string, stats: Stats | undefined): string | null {
  if (stats === undefined) return `${path} does not exist.`;
  if (!stats.isDirectory()) return `${path} is not a directory.`;
  const user = process.geteuid?.();
  if (stats.uid !== user) return `${path} belongs to another user (uid ${stats.uid}, this is ${user}): give a directory of this user.`;
  if ((stats.mode & 0o077) === 0) return null;
  return `${path} is open to other users (mode ${modeText(stats)}): chmod 700 it, if nobody else has written there.`;
}

/** The permissions as chmod(1) takes them. */
export function modeText({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new DataDirectoryError(`${path} cannot be looked at (${code}).`, { cause: error });
  }
}
