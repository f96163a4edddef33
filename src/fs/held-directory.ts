import { type BigIntStats, closeSync, constants, existsSync, fstat, open } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { promisify } from 'node:util';
import { systemError } from './file-error.js';

/** Opens a place without opening what is there (open(2)); Node has no name for it. */
export const O_PATH = 0o10000000;

/** Whether a path can start at a descriptor: on Linux, through /proc (proc_pid_fd(5)). */
export const HOLDS_DESCRIPTORS = process.platform === 'linux' && existsSync('/proc/self/fd');

const openDescriptor = promisify(open);
const statDescriptor = promisify<number, { bigint: true }, BigIntStats>(fstat);

/** What one file or directory is, whatever its names: two are the same when this is equal. */
export const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/**
 * Something held by a descriptor, so that nobody can put something else in its place: what is done through `path` is
 * done to it. Other systems than Linux hold its path alone.
 */
export class Held {
  private constructor(
    /** Leads to it, and nowhere else while it is held. */
    readonly path: Buffer,
    readonly fd: number | null,
  ) {}

  /** Holds what is at a path, without opening it: no device and no fifo notices. `flags` may add O_DIRECTORY and O_NOFOLLOW. */
  static async open(path: Buffer, flags = 0): Promise<Held> {
    if (!HOLDS_DESCRIPTORS) return Held.#openByPath(path, flags);
    const fd = await openDescriptor(path, O_PATH | flags);
    return new Held(Buffer.from(`/proc/self/fd/${fd}`), fd);
  }

  /** Leaves a moment between the look and what is done then, in which a link may be put there. */
  static async #openByPath(path: Buffer, flags: number): Promise<Held> {
    const real = flags & constants.O_NOFOLLOW ? path : await realpath(path, { encoding: 'buffer' });
    const stats = await lstat(real);
    if (flags & constants.O_DIRECTORY && !stats.isDirectory()) throw systemError('ENOTDIR');
    return new Held(real, null);
  }

  /** The path of a name in this directory; it leads there whatever becomes of the directory's own path. */
  at(name: Buffer): Buffer {
    return Buffer.concat([this.path, SLASH, name]);
  }

  stat(): Promise<BigIntStats> {
    return this.fd === null ? lstat(this.path, { bigint: true }) : statDescriptor(this.fd, { bigint: true });
  }

  /** At once: nothing waits for a descriptor that opened nothing. */
  close(): void {
    if (this.fd !== null) closeSync(this.fd);
  }
}

const SLASH = Buffer.from('/');
