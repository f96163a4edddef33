import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import type { Held } from './held-directory.js';
import { renameNew } from './rename-new.js';

/** End of the name of every file that is not whole yet. Whoever finds one beside no running write may remove it. */
export const TEMPORARY_SUFFIX = '.exec-gateway-tmp';

/** Kept of the target's name, in bytes: enough to know whose it is, and within 143 bytes in all, which the closest file systems allow. */
const KEPT_NAME_BYTES = 64;

/** A name for what is to become `name`: hidden, unlike any other, valid UTF-8 when `name` is. */
export function temporaryName(name: Buffer): Buffer {
  let cut = Math.min(name.length, KEPT_NAME_BYTES);
  while (cut > 0 && cut < name.length && ((name[cut] as number) & 0xc0) === 0x80) cut--;
  const end = `.${randomBytes(9).toString('base64url')}${TEMPORARY_SUFFIX}`;
  return Buffer.concat([Buffer.from('.'), name.subarray(0, cut), Buffer.from(end)]);
}

/** A file beside its target that has not taken its place yet. */
export class TemporaryFile {
  #landed = false;

  private constructor(
    readonly directory: Held,
    readonly name: Buffer,
    readonly handle: FileHandle,
  ) {}

  /** @param mode as in open(2): less the umask */
  static async create(directory: Held, target: Buffer, mode: number): Promise<TemporaryFile> {
    const name = temporaryName(target);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    return new TemporaryFile(directory, name, await open(directory.at(name), flags, mode));
  }

  get path(): Buffer {
    return this.directory.at(this.name);
  }

  /** Takes the place of whatever has the name, at once. */
  async replace(target: Buffer): Promise<void> {
    await rename(this.path, this.directory.at(target));
    this.#landed = true;
  }

  /** Takes a name that nothing has, else EEXIST. */
  async takeNew(target: Buffer): Promise<void> {
    await renameNew(this.path, this.directory.at(target), false);
    this.#landed = true;
  }

  /** Closes it, and leaves nothing behind when it has not taken its place. */
  async dispose(): Promise<void> {
    try {
      if (!this.#landed) await unlink(this.path);
    } finally {
      await this.handle.close();
    }
  }
}
