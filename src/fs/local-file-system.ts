import type {
  CallOptions,
  CreateDirectoryOptions,
  ExecutorFileSystem,
  FileBody,
  FileContent,
  FileMetadata,
  FilePath,
  MetadataOptions,
  ReadFileOptions,
  SearchLine,
  SearchQuery,
  Stored,
  WriteFileOptions,
} from '../protocol/index.js';
import { createDirectory } from './create-directory.js';
import { fileError } from './file-error.js';
import { fileMetadata } from './file-metadata.js';
import { FileRoot } from './file-root.js';
import { NameLock } from './name-lock.js';
import { pathBytes, showPath } from './path-bytes.js';
import { linkText } from './place.js';
import { openContent } from './read-file.js';
import { TreeSearch } from './tree-search.js';
import { BodyFailure, writeWhole } from './write-file.js';

export interface LocalFileSystemOptions {
  /** The directory that no path leaves, symbolic links and races included. Default `/`: every path is allowed. */
  root?: string | undefined;
}

/** Files of this machine. */
export class LocalFileSystem implements Pick<ExecutorFileSystem, 'readFile' | 'writeFile' | 'createDirectory' | 'getMetadata' | 'search'> {
  /** For the other parts of the files half: watch, archive, search. */
  readonly root: FileRoot;
  readonly #locks = new NameLock();
  readonly #searches: TreeSearch;

  /** @throws {GatewayError} unless the root is a directory */
  constructor({ root }: LocalFileSystemOptions = {}) {
    this.root = new FileRoot(root);
    this.#searches = new TreeSearch(this.root);
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

  search(path: FilePath, query: SearchQuery, options?: CallOptions): Promise<AsyncIterable<SearchLine[]>> {
    return this.#searches.search(path, query, options);
  }
}
