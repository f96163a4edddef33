import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { native } from '../process/native.js';

/** How long a program that is ending may still hold a lock, in milliseconds, and how often that is looked at. */
const RELEASE_MS = 1_000;
const LOOK_MS = 20;

/** A file that one program at a time holds. The kernel lets go of it when that ends, however it ends. */
export class FileLock {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Takes it, and writes this program's pid into the file; null when another holds it. */
  static take(path: string): FileLock | null {
    const fd = openSync(path, 'a+', 0o600);
    if (!native?.lock(fd)) {
      closeSync(fd);
      return null;
    }
    ftruncateSync(fd);
    writeSync(fd, `${process.pid}\n`);
    return new FileLock(fd);
  }

  /** Takes it as soon as who is ending lets go of it, within a second; null when another goes on holding it. */
  static async wait(path: string): Promise<FileLock | null> {
    const until = performance.now() + RELEASE_MS;
    for (;;) {
      const lock = FileLock.take(path);
      if (lock || performance.now() > until) return lock;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** The pid of who holds it; null when nobody does. */
  static holder(path: string): number | null {
    let fd: number;
    try {
      fd = openSync(path, 'r');
    } catch {
      return null;
    }
    try {
      return native?.lock(fd) ? null : Number.parseInt(readFileSync(path, 'utf8'), 10) || 0;
    } finally {
      closeSync(fd);
    }
  }

  release(): void {
    closeSync(this.#fd);
  }
}
