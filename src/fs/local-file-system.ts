import {
  type AppendUploadOptions,
  type CallOptions,
  type Copied,
  type CopyRequest,
  type CreateDirectoryOptions,
  type DirectoryList,
  type ExecutorFileSystem,
  type FileBody,
  type FileChange,
  type FileContent,
  type FileMetadata,
  type FilePath,
  GatewayError,
  type MetadataOptions,
  type MoveRequest,
  type ReadArchiveOptions,
  type ReadDirectoryOptions,
  type ReadFileOptions,
  type Removed,
  type RemoveOptions,
  type SearchLine,
  type SearchQuery,
  type Stored,
  type Unpacked,
  type Upload,
  type UploadName,
  type WatchFilesOptions,
  type WriteArchiveOptions,
  type WriteFileOptions,
} from '../protocol/index.js';
import { readArchive } from './archive-read.js';
import { writeArchive } from './archive-unpack.js';
import { BodyFailure } from './body-parts.js';
import { copyEntry, type Transfer } from './copy-entry.js';
import { createDirectory } from './create-directory.js';
import { readPage } from './directory-page.js';
import { fileError, fileErrorCode, pathError, systemError } from './file-error.js';
import { fileMetadata } from './file-metadata.js';
import { FileRoot } from './file-root.js';
import { FileUploads } from './file-uploads.js';
import { FileWatches } from './file-watches.js';
import { moveEntry } from './move-entry.js';
import { NameLock } from './name-lock.js';
import { pathBytes, showPath } from './path-bytes.js';
import { linkText } from './place.js';
import { openContent } from './read-file.js';
import { removeEntry } from './remove-entry.js';
import { RunningCalls } from './running-calls.js';
import { TreeSearch } from './tree-search.js';
import { writeWhole } from './write-file.js';

export interface LocalFileSystemOptions {
  /** The directory that no path leaves, symbolic links and races included. Default `/`: every path is allowed. */
  root?: string | undefined;
}

/** Files of this machine. */
export class LocalFileSystem implements ExecutorFileSystem {
  /** For the other parts of the files half: watch, archive, search. */
  readonly root: FileRoot;
  readonly #locks = NameLock.shared;
  readonly #searches: TreeSearch;
  readonly #watches: FileWatches;
  readonly #uploads: FileUploads;
  readonly #calls = new RunningCalls();

  /** @throws {GatewayError} unless the root is a directory */
  constructor({ root }: LocalFileSystemOptions = {}) {
    this.root = new FileRoot(root);
    this.#searches = new TreeSearch(this.root);
    this.#watches = new FileWatches(this.root);
    this.#uploads = new FileUploads(this.root, this.#locks);
  }

  async readFile(path: FilePath, options: ReadFileOptions = {}): Promise<FileContent> {
    options.signal?.throwIfAborted();
    const shown = showPath(pathBytes(path));
    return await this.root.at(path, { links: 'follow' }, (place) => openContent(place, options, shown));
  }

  writeFile(path: FilePath, body: FileBody, options: WriteFileOptions = {}): Promise<Stored> {
    return this.#calls.run(options, (running) => this.#write(path, body, running));
  }

  async #write(path: FilePath, body: FileBody, options: WriteFileOptions): Promise<Stored> {
    const place = await this.root.find(path, { links: 'resolve', createParents: options.create_parents, parentsBy: 'create_parents' });
    try {
      return await writeWhole(place, body, options, this.#locks);
    } catch (error) {
      throw error instanceof BodyFailure ? error.cause : pathError(error, pathBytes(path));
    } finally {
      place.close();
    }
  }

  async createDirectory(path: FilePath, options: CreateDirectoryOptions = {}): Promise<Stored> {
    options.signal?.throwIfAborted();
    const links = options.recursive ? 'resolve' : 'keep';
    return await this.root.at(path, { links, createParents: options.recursive, parentsBy: 'recursive' }, (place) =>
      createDirectory(place, options),
    );
  }

  async getMetadata(path: FilePath, options: MetadataOptions = {}): Promise<FileMetadata> {
    options.signal?.throwIfAborted();
    return await this.root.at(path, { links: options.follow_symlinks ? 'follow' : 'keep' }, async (place) => {
      const { held, stats } = await place.hold();
      held.close();
      return fileMetadata(stats, stats.isSymbolicLink() ? ((await linkText(place.path)) ?? undefined) : undefined);
    });
  }

  async watch(path: FilePath, options?: WatchFilesOptions): Promise<AsyncIterable<FileChange[]>> {
    return await this.#watches.read(path, options);
  }

  createUpload(path: FilePath, size_bytes: number, options: WriteFileOptions = {}): Promise<Upload> {
    return this.#calls.run(options, (running) => this.#uploads.create(path, size_bytes, running));
  }

  getUpload(upload: UploadName, options?: CallOptions): Promise<Upload> {
    return this.#uploads.get(upload, options);
  }

  appendUpload(upload: UploadName, offset_bytes: number, body: FileBody, options: AppendUploadOptions = {}): Promise<Upload> {
    return this.#calls.run(options, (running) => this.#uploads.append(upload, offset_bytes, body, running));
  }

  cancelUpload(upload: UploadName, options?: CallOptions): Promise<void> {
    return this.#uploads.cancel(upload, options);
  }

  /**
   * Ends all watching, and the calls that change something: they are aborted (`shutting_down`) and leave nothing half done.
   * Unfinished uploads are kept, for the next one to go on with. Resolves when all have ended, or 2 s after they were aborted.
   * @param patience_ms time that calls are given to end by themselves, in milliseconds
   */
  async close(patience_ms = 0): Promise<void> {
    this.#watches.close();
    this.#uploads.close();
    await this.#calls.end(patience_ms);
  }

  readArchive(path: FilePath, options?: ReadArchiveOptions): Promise<AsyncIterable<Uint8Array>> {
    return readArchive(this.root, path, options);
  }

  writeArchive(path: FilePath, body: FileBody, options: WriteArchiveOptions = {}): Promise<Unpacked> {
    return this.#calls.run(options, (running) => writeArchive(this.root, this.#locks, path, body, running));
  }

  search(path: FilePath, query: SearchQuery, options?: CallOptions): Promise<AsyncIterable<SearchLine[]>> {
    return this.#searches.search(path, query, options);
  }

  async readDirectory(path: FilePath, options: ReadDirectoryOptions = {}): Promise<DirectoryList> {
    options.signal?.throwIfAborted();
    return await this.root.at(path, { links: 'follow' }, async (place) => {
      const { held, stats } = await place.hold();
      try {
        if (!stats.isDirectory()) throw systemError('ENOTDIR');
        return await readPage(held, options);
      } finally {
        held.close();
      }
    });
  }

  remove(path: FilePath, options: RemoveOptions = {}): Promise<Removed> {
    return this.#calls.run(options, (running) => this.#remove(path, running));
  }

  async #remove(path: FilePath, options: RemoveOptions): Promise<Removed> {
    try {
      return await this.root.at(path, {}, (place) => removeEntry(place, options, this.root, this.#locks));
    } catch (error) {
      if (options.force && error instanceof GatewayError && error.code === 'path_not_found') return { removed: false };
      throw error;
    }
  }

  copy(request: CopyRequest, options: CallOptions = {}): Promise<Copied> {
    return this.#calls.run(options, (running) => this.#transfer(request, running, copyEntry));
  }

  move(request: MoveRequest, options: CallOptions = {}): Promise<void> {
    return this.#calls.run(options, (running) => this.#transfer(request, running, moveEntry));
  }

  async #transfer<T>(request: CopyRequest, { signal }: CallOptions, act: (transfer: Transfer) => Promise<T>): Promise<T> {
    const { source_path, source_path_base64, destination_path, destination_path_base64, recursive = false, overwrite = false } = request;
    const from = { path: source_path, path_base64: source_path_base64 };
    const to = { path: destination_path, path_base64: destination_path_base64 };
    const source = await this.root.find(from, {});
    try {
      const destination = await this.root.find(to, {});
      try {
        return await act({ source, destination, recursive, overwrite, root: this.root, locks: this.#locks, signal });
      } catch (error) {
        throw transferError(error, pathBytes(from), pathBytes(to));
      } finally {
        destination.close();
      }
    } finally {
      source.close();
    }
  }
}

/** Tells of the path that is at fault, and of both where the system does not say which. */
function transferError(error: unknown, from: Buffer, to: Buffer): unknown {
  const code = fileErrorCode(error);
  if (code === 'path_not_found') return pathError(error, from);
  return code === 'path_exists' ? pathError(error, to) : fileError(error, `${showPath(from)} to ${showPath(to)}`);
}
