import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { errnoOf } from './file-error.js';
import type { Held } from './held-directory.js';
import { renameNew } from './rename-new.js';

/** End of the name of everything that is not whole yet. Whoever finds one beside no running call may remove it. */
const TEMPORARY_SUFFIX = '.exec-gateway-tmp';

/** End of the name of a file that arrives in parts. */
export const UPLOAD_SUFFIX = '.exec-gateway-upload';

/** The names given here, and hardly any other. */
const TEMPORARY = /^\..+\.(?:[\w-]{12}\.exec-gateway-tmp|[\w-]{22}(?:-\d+)?\.exec-gateway-upload)$/s;

/**
 * Whether a name stands for what is not whole yet, or never became so: no call tells of it, copies or finds it.
 * @param name its bytes as the characters U+0000 to U+00FF
 */
export const isTemporary = (name: string): boolean => TEMPORARY.test(name);

/** Kept of the target's name, in bytes: enough to know whose it is, and within 143 bytes in all, which the closest file systems allow. */
const KEPT_NAME_BYTES = 64;

/** A name beside a target, for what has not taken the target's place yet: hidden, unlike any other, valid UTF-8 where the target's is. */
export class TemporaryName {
  readonly name: Buffer;
  #landed = false;

  /**
   * @param id what tells it from others of the same target; letters, digits, `-` and `_`
   * @param suffix what tells its kind
   */
  constructor(
    readonly directory: Held,
    readonly target: Buffer,
    id = randomBytes(9).toString('base64url'),
    suffix = TEMPORARY_SUFFIX,
  ) {
    let cut = Math.min(target.length, KEPT_NAME_BYTES);
    while (cut > 0 && cut < target.length && ((target[cut] as number) & 0xc0) === 0x80) cut--;
    const end = `.${id}${suffix}`;
    this.name = Buffer.concat([Buffer.from('.'), target.subarray(0, cut), Buffer.from(end)]);
  }

  get path(): Buffer {
    return this.directory.at(this.name);
  }

  /** @param mode as in open(2): less the umask */
  createFile(mode: number): Promise<FileHandle> {
    return open(this.path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode);
  }

  /** Takes the target's place, whatever has it, at once. */
  async replace(): Promise<void> {
    await rename(this.path, this.directory.at(this.target));
    this.#landed = true;
  }

  /** Takes the target's place when nothing has it, else EEXIST. */
  async takeNew(isDirectory = false): Promise<void> {
    await renameNew(this.path, this.directory.at(this.target), isDirectory);
    this.#landed = true;
  }

  get landed(): boolean {
    return this.#landed;
  }

  /** Leaves no file behind that has not taken its place. */
  async dispose(): Promise<void> {
    if (this.#landed) return;
    await unlink(this.path).catch((error) => {
      if (errnoOf(error) !== 'ENOENT') throw error;
    });
  }
}
