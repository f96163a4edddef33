import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { native } from '../process/native.js';

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
