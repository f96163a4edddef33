import type { FileHandle } from 'node:fs/promises';
import type { Unpacked } from '../protocol/archive.js';
import { GatewayError } from '../protocol/error.js';
import { MAX_ARCHIVE_ENTRIES } from '../protocol/limits.js';
import { checkLinkText, entryNames, unsafe } from './archive-names.js';
import { type ArchiveTarget, seconds } from './archive-target.js';
import { BodyFailure } from './body-parts.js';
import { fileError } from './file-error.js';
import { showPath } from './path-bytes.js';
import type { TarEntry } from './tar-entry.js';
import { TarFault, type TarReader } from './tar-reader.js';

/** Files up to this size are taken into memory and written beside each other, in bytes. */
const SMALL_BYTES = 64 * 1024;

/** So many at once. */
const AT_ONCE = 16;

/** Unpacks a tar into a directory, entry by entry. */
export class ArchiveWriter {
  readonly #target: ArchiveTarget;
  readonly #tar: TarReader;
  readonly #any_links: boolean;
  /** Small files that are being written, by their name in the directory that the target is in. */
  readonly #under_way = new Map<string, Promise<void>>();
  #entries = 0;
  /** The entry that is being unpacked, for messages. */
  #name: Buffer | null = null;

  /** @param any_links whether links may lead out of the directory */
  constructor(target: ArchiveTarget, tar: TarReader, any_links: boolean) {
    this.#target = target;
    this.#any_links = any_links;
    this.#tar = tar;
  }

  /** @throws {GatewayError} with `unpacked`, and the entry as `path`; what the body failed with when that is no system's fault */
  async run(): Promise<Unpacked> {
    try {
      for (let entry = await this.#tar.next(); entry !== null; entry = await this.#tar.next()) await this.#unpack(entry);
      this.#name = null;
      await this.#tar.drain();
      await this.#settle();
      await this.#target.finish();
      const { unreadable } = this.#tar;
      return unreadable.length === 0 ? this.#target.unpacked : { ...this.#target.unpacked, unreadable };
    } catch (error) {
      await Promise.allSettled(this.#under_way.values());
      await this.#target.finish().catch(() => undefined); // what failed is told already
      throw archiveError(error, this.#name, this.#target.unpacked);
    }
  }

  async #unpack(entry: TarEntry): Promise<void> {
    this.#name = entry.name;
    if (++this.#entries > MAX_ARCHIVE_ENTRIES) {
      const detail = `The tar has more than ${MAX_ARCHIVE_ENTRIES} entries: send it in parts.`;
      throw new GatewayError('payload_too_large', detail, { limit: MAX_ARCHIVE_ENTRIES });
    }
    const names = entryNames(entry.name);
    const name = names.at(-1);
    switch (entry.type) {
      case 'directory':
        await this.#goTo(names);
        return this.#target.describe(entry);
      case 'file':
        if (name === undefined) throw unsafe(`${showPath(entry.name)} names the directory itself, and is a file`);
        await this.#goTo(names.slice(0, -1));
        return await this.#file(name, entry);
      case 'symlink':
        if (name === undefined) throw unsafe(`${showPath(entry.name)} names the directory itself, and is a link`);
        checkLinkText(entry.name, entry.target, this.#any_links ? null : names.length - 1);
        await this.#goTo(names.slice(0, -1));
        await this.#settle();
        return await this.#target.symlink(name, entry);
      case 'hard-link':
        return await this.#hardLink(names, entry);
      case 'char':
      case 'block':
      case 'fifo':
        throw unsafe(`${showPath(entry.name)} is a ${entry.type === 'fifo' ? 'fifo' : 'device'}`);
      case 'unknown':
        throw new TarFault(`holds ${showPath(entry.name)}, which is of a kind that is not understood`);
    }
  }

  async #hardLink(names: Buffer[], entry: TarEntry): Promise<void> {
    const target = entryNames(entry.target);
    if (names.length === 0 || target.length === 0) throw unsafe(`${showPath(entry.name)} is a hard link of a directory`);
    await this.#settle();
    await this.#target.hardLink(names, target);
  }

  /** What is under way holds the directory that is left. */
  async #goTo(names: Buffer[]): Promise<void> {
    if (this.#target.isIn(names)) return;
    await this.#settle();
    await this.#target.go(names, true);
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#under_way.values());
  }

  async #file(name: Buffer, entry: TarEntry): Promise<void> {
    const key = name.toString('latin1');
    await this.#under_way.get(key);
    if (entry.size > SMALL_BYTES) return await this.#write(name, entry, this.#tar.content());
    const parts: Buffer[] = [];
    for await (const part of this.#tar.content()) parts.push(part);
    while (this.#under_way.size >= AT_ONCE) await Promise.race(this.#under_way.values());
    const written = this.#write(name, entry, parts);
    this.#under_way.set(key, written);
    written.then(
      () => this.#under_way.delete(key),
      () => undefined, // told by whoever waits for it
    );
  }

  async #write(name: Buffer, entry: TarEntry, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    const temporary = this.#target.temporary(name);
    try {
      const handle = await temporary.createFile(0o600);
      try {
        for await (const part of content) await writeAll(handle, part);
        // Set-id bits would hand out the rights of the gateway's user.
        await handle.chmod(entry.mode & 0o1777);
        await handle.utimes(seconds(entry.mtime_ns), seconds(entry.mtime_ns));
      } finally {
        await handle.close();
      }
      await this.#target.land(temporary);
      this.#target.unpacked.files++;
      this.#target.unpacked.bytes += entry.size;
    } catch (error) {
      throw entryError(error, entry.name, this.#target.unpacked);
    } finally {
      await temporary.dispose();
    }
  }
}

/** What unpacking failed with, as it is told: what the body failed with as it is, unless it is a fault of the tar. */
export function archiveError(error: unknown, name: Buffer | null, unpacked: Unpacked): unknown {
  if (!(error instanceof BodyFailure)) return entryError(error, name, unpacked);
  return error.cause instanceof GatewayError ? entryError(error.cause, name, unpacked) : error.cause;
}

/** An error with what was unpacked before, and the entry it is about. */
function entryError(error: unknown, name: Buffer | null, unpacked: Unpacked): unknown {
  if (error instanceof TarFault) {
    const after = name === null ? '' : `, after ${showPath(name)}`;
    return new GatewayError('invalid_archive', `The tar ${error.message}${after}.`, { unpacked });
  }
  const known = name === null ? error : fileError(error, showPath(name));
  if (!(known instanceof GatewayError) || known.fields.unpacked) return known;
  const path = name === null ? {} : { path: name.toString() };
  return new GatewayError(known.code, known.message, { ...known.fields, ...path, unpacked }, { cause: known.cause });
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten;
}
