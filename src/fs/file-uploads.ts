import { randomBytes } from 'node:crypto';
import { lstat, unlink } from 'node:fs/promises';
import {
  type AppendUploadOptions,
  type CallOptions,
  type FileBody,
  type FilePath,
  GatewayError,
  UPLOAD_EXPIRY_MS,
  type Upload,
  UploadId,
  type UploadName,
  type WriteFileOptions,
} from '../protocol/index.js';
import { BodyFailure } from './body-parts.js';
import { allNames, nameBytes } from './directory-names.js';
import { errnoOf, pathError } from './file-error.js';
import { etagOf } from './file-metadata.js';
import type { FileRoot, FindOptions } from './file-root.js';
import { type Held, identityOf } from './held-directory.js';
import type { NameLock } from './name-lock.js';
import { PartialFile } from './partial-file.js';
import { pathBytes, showPath } from './path-bytes.js';
import type { Place } from './place.js';
import { checkPrecondition } from './precondition.js';
import { removeTree } from './remove-tree.js';
import { isTemporary, TemporaryName, UPLOAD_SUFFIX } from './temporary-name.js';
import { Turns } from './turns.js';
import { UnfinishedUploads } from './unfinished-uploads.js';
import { lookAt, putInPlace } from './write-file.js';

/** Directories that were looked through for what earlier gateways left. */
const MAX_SWEPT = 10_000;

/**
 * Files that arrive in parts. A part is kept in a file beside the target, which is named after the upload and what it announced; its
 * size is the offset. Nothing else is kept, so uploads outlive the gateway.
 */
export class FileUploads {
  readonly #root: FileRoot;
  readonly #locks: NameLock;
  readonly #expiry_ms: number;
  readonly #turns = new Turns(
    () => new GatewayError('upload_taken_over', 'Another call came for this upload: ask for the offset and send on from there.'),
  );
  readonly #known: UnfinishedUploads;
  readonly #swept = new Set<string>();

  constructor(root: FileRoot, locks: NameLock, expiry_ms = UPLOAD_EXPIRY_MS) {
    this.#root = root;
    this.#locks = locks;
    this.#expiry_ms = expiry_ms;
    this.#known = new UnfinishedUploads(expiry_ms, (upload) => this.#expire(upload));
  }

  async create(path: FilePath, size_bytes: number, options: WriteFileOptions = {}): Promise<Upload> {
    const upload = { ...path, upload_id: randomBytes(16).toString('base64url'), size_bytes };
    return await this.#turns.take(upload.upload_id, options.signal, async () => {
      this.#known.touch(upload);
      try {
        return await this.#at(upload, { createParents: options.create_parents, parentsBy: 'create_parents' }, (place) =>
          this.#begin(upload, place, options),
        );
      } catch (error) {
        this.#known.forget(upload.upload_id);
        throw error;
      }
    });
  }

  async #begin(upload: UploadName, place: Place, options: WriteFileOptions): Promise<Upload> {
    const before = await lookAt(place);
    checkPrecondition(options, before && etagOf(before));
    await this.#sweep(place.directory);
    const temporary = temporaryOf(place, upload);
    const handle = await temporary.createFile(before ? 0o600 : 0o666);
    try {
      if (upload.size_bytes === 0) {
        await putInPlace(temporary, handle, place, options, this.#locks, before);
        this.#known.finish(upload);
      }
      return this.#told(upload, 0);
    } catch (error) {
      await temporary.dispose();
      throw error;
    } finally {
      await handle.close();
    }
  }

  async get(upload: UploadName, { signal }: CallOptions = {}): Promise<Upload> {
    return await this.#turns.take(upload.upload_id, signal, () => {
      if (this.#known.isFinished(upload)) return Promise.resolve(this.#told(upload, upload.size_bytes));
      return this.#open(upload, async (partial) => this.#told(upload, partial.offset, partial.touched));
    });
  }

  async append(upload: UploadName, offset: number, body: FileBody, options: AppendUploadOptions = {}): Promise<Upload> {
    return await this.#turns.take(upload.upload_id, options.signal, (signal) => {
      if (this.#known.isFinished(upload)) return Promise.resolve(this.#afterEnd(upload, offset));
      return this.#open(upload, async (partial, temporary, place) => {
        if (partial.offset !== offset) throw mismatch(offset, partial.offset);
        this.#known.touch(upload);
        const at = await partial.append(body, upload.size_bytes, signal);
        this.#known.touch(upload);
        if (at < upload.size_bytes) return this.#told(upload, at);
        await putInPlace(temporary, partial.handle, place, options, this.#locks);
        this.#known.finish(upload);
        return this.#told(upload, at);
      });
    });
  }

  async cancel(upload: UploadName, { signal }: CallOptions = {}): Promise<void> {
    return await this.#turns.take(upload.upload_id, signal, () =>
      this.#open(upload, async (_partial, temporary) => {
        await temporary.dispose();
        this.#known.forget(upload.upload_id);
      }),
    );
  }

  close(): void {
    this.#known.close();
  }

  async #open<T>(upload: UploadName, act: (partial: PartialFile, temporary: TemporaryName, place: Place) => Promise<T>): Promise<T> {
    return await this.#at(upload, {}, async (place) => {
      const temporary = temporaryOf(place, upload);
      const partial = await PartialFile.open(temporary, upload.size_bytes).catch((error) => {
        throw errnoOf(error) === 'ENOENT' ? notFound(upload) : error;
      });
      try {
        if (partial.touched + this.#expiry_ms < Date.now()) {
          await temporary.dispose();
          throw notFound(upload);
        }
        return await act(partial, temporary, place);
      } finally {
        await partial.handle.close();
      }
    });
  }

  async #at<T>(path: FilePath, options: FindOptions, act: (place: Place) => Promise<T>): Promise<T> {
    const place = await this.#root.find(path, { ...options, links: 'resolve' });
    try {
      return await act(place);
    } catch (error) {
      throw error instanceof BodyFailure ? error.cause : pathError(error, pathBytes(path));
    } finally {
      place.close();
    }
  }

  #told({ upload_id, size_bytes }: UploadName, offset_bytes: number, touched = Date.now()): Upload {
    const complete = offset_bytes === size_bytes;
    return {
      upload_id,
      size_bytes,
      offset_bytes,
      complete,
      expires_at: complete ? null : new Date(touched + this.#expiry_ms).toISOString(),
    };
  }

  #expire(upload: UploadName): void {
    if (this.#turns.isTaken(upload.upload_id)) this.#known.touch(upload);
    else this.cancel(upload).catch(() => undefined); // it may have been removed by others
  }

  /** A repeated last part, whose answer was lost. */
  #afterEnd(upload: UploadName, offset: number): Upload {
    if (offset !== upload.size_bytes) throw mismatch(offset, upload.size_bytes);
    return this.#told(upload, offset);
  }

  /** Removes what no call has gone on with, once for each directory: a gateway that was killed may have left it. */
  async #sweep(directory: Held): Promise<void> {
    const identity = identityOf(await directory.stat());
    if (this.#swept.has(identity)) return;
    if (this.#swept.size >= MAX_SWEPT) this.#swept.clear();
    this.#swept.add(identity);
    for (const name of (await allNames(directory.path).catch(() => [])).filter(isTemporary).map(nameBytes)) {
      const stats = await lstat(directory.at(name)).catch(() => null);
      // Not by the time of its content, which an archive sets to what it was.
      if (stats === null || stats.ctimeMs + this.#expiry_ms >= Date.now()) continue;
      const remove = async () => removeTree(directory, name, { rootIdentity: await this.#root.identity(), ours: true });
      await (stats.isDirectory() ? remove() : unlink(directory.at(name))).catch(() => undefined);
    }
  }
}

const ID = new RegExp(UploadId.pattern as string);

function temporaryOf(place: Place, upload: UploadName): TemporaryName {
  if (!ID.test(upload.upload_id)) throw notFound(upload);
  // With its size, so that an address which says another one names nothing.
  return new TemporaryName(place.directory, place.name, `${upload.upload_id}-${upload.size_bytes}`, UPLOAD_SUFFIX);
}

const notFound = ({ upload_id, ...path }: UploadName) =>
  new GatewayError('upload_not_found', `There is no upload ${JSON.stringify(upload_id)} for ${showPath(pathBytes(path))}: begin anew.`);

const mismatch = (given: number, offset: number) =>
  new GatewayError('upload_offset_mismatch', `Upload-Offset ${given} is not where the upload ends: send on from ${offset}.`, {
    accepted_bytes: offset,
  });
