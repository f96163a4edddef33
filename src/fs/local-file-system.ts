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
import { copyEntry, type Transfer } from './copy-entry.js';
import { createDirectory } from './create-directory.js';
import { readPage } from './directory-page.js';
import { fileError, systemError } from './file-error.js';
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
import { TreeSearch } from './tree-search.js';
import { BodyFailure, writeWhole } from './write-file.js';

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

  async writeFile(path: FilePath, body: FileBody, options: WriteFileOptions = {}): Promise<Stored> {
    options.signal?.throwIfAborted();
    const place = await this.root.find(path, { links: 'resolve', createParents: options.create_parents });
    try {
      return await writeWhole(place, body, options, this.#locks);
    } catch (error) {
      throw error instanceof BodyFailure ? error.cause : fileError(error, showPath(pathBytes(path)));
    } finally {
      place.close();
    }
  }

  async createDirectory(path: FilePath, options: CreateDirectoryOptions = {}): Promise<Stored> {
    options.signal?.throwIfAborted();
    const links = options.recursive ? 'resolve' : 'keep';
    return await this.root.at(path, { links, createParents: options.recursive }, (place) => createDirectory(place, options));
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

  createUpload(path: FilePath, size_bytes: number, options?: WriteFileOptions): Promise<Upload> {
    return this.#uploads.create(path, size_bytes, options);
  }

  getUpload(upload: UploadName, options?: CallOptions): Promise<Upload> {
    return this.#uploads.get(upload, options);
  }

  appendUpload(upload: UploadName, offset_bytes: number, body: FileBody, options?: AppendUploadOptions): Promise<Upload> {
    return this.#uploads.append(upload, offset_bytes, body, options);
  }

  cancelUpload(upload: UploadName, options?: CallOptions): Promise<void> {
    return this.#uploads.cancel(upload, options);
  }

  /** Ends all watching. Unfinished uploads are kept, for the next one to go on with. */
  close(): void {
    this.#watches.close();
    this.#uploads.close();
  }

  readArchive(path: FilePath, options?: CallOptions): Promise<AsyncIterable<Uint8Array>> {
    return readArchive(this.root, path, options);
  }

  writeArchive(path: FilePath, body: FileBody, options?: WriteArchiveOptions): Promise<Unpacked> {
    return writeArchive(this.root, this.#locks, path, body, options);
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

  async remove(path: FilePath, options: RemoveOptions = {}): Promise<Removed> {
    options.signal?.throwIfAborted();
    try {
      return await this.root.at(path, {}, (place) => removeEntry(place, options, this.root));
    } catch (error) {
      if (options.force && error instanceof GatewayError && error.code === 'path_not_found') return { removed: false };
      throw error;
    }
  }

  async copy(request: CopyRequest, options: CallOptions = {}): Promise<Copied> {
    return await this.#transfer(request, options, copyEntry);
  }

  async move(request: MoveRequest, options: CallOptions = {}): Promise<void> {
    await this.#transfer(request, options, moveEntry);
  }

  async #transfer<T>(request: CopyRequest, { signal }: CallOptions, act: (transfer: Transfer) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const { source_path, source_path_base64, destination_path, destination_path_base64, recursive = false, overwrite = false } = request;
    const from = { path: source_path, path_base64: source_path_base64 };
    const to = { path: destination_path, path_base64: destination_path_base64 };
    const source = await this.root.find(from, {});
    try {
      const destination = await this.root.find(to, {});
      try {
        return await act({ source, destination, recursive, overwrite, root: this.root, locks: this.#locks, signal });
      } catch (error) {
        throw fileError(error, `${showPath(pathBytes(from))} to ${showPath(pathBytes(to))}`);
      } finally {
        destination.close();
      }
    } finally {
      source.close();
    }
  }
}
