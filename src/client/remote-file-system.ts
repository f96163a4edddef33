import type { CallOptions } from '../protocol/exec-process.js';
import type { Copied, CopyRequest, DirectoryList, FileMetadata, MoveRequest, Removed, Stored } from '../protocol/file.js';
import type {
  CreateDirectoryOptions,
  ExecutorFileSystem,
  FileBody,
  FileContent,
  FilePath,
  MetadataOptions,
  ReadDirectoryOptions,
  ReadFileOptions,
  RemoveOptions,
  WriteFileOptions,
} from '../protocol/file-system.js';
import { RemoteContent } from './remote-content.js';
import { upload } from './upload-stream.js';
import { Wire, type WireOptions, type WireRequest } from './wire.js';

/**
 * Files behind a gateway, over `fetch` alone. Calls reject with the `GatewayError` that the gateway threw, or with
 * `upstream_unreachable` when it was not reached. Nothing is tried again.
 */
export class RemoteFileSystem
  implements
    Pick<ExecutorFileSystem, 'readFile' | 'writeFile' | 'createDirectory' | 'getMetadata' | 'readDirectory' | 'remove' | 'copy' | 'move'>
{
  readonly #wire: Wire;

  /** @throws {GatewayError} `invalid_argument` for an address that cannot be called */
  constructor(options: WireOptions) {
    this.#wire = new Wire(options);
  }

  async readFile(path: FilePath, { offset = 0, length, if_match, signal }: ReadFileOptions = {}): Promise<FileContent> {
    const headers: Record<string, string> = {};
    // No range is empty: of one byte the headers are enough.
    const last = length === undefined ? '' : offset + Math.max(1, length) - 1;
    if (offset > 0 || length !== undefined) headers.range = `bytes=${offset}-${last}`;
    if (if_match !== undefined) headers['if-match'] = if_match;
    const stream = await this.#wire.stream({ path: '/fs/file', query: { ...path }, headers, signal });
    return new RemoteContent(stream, { offset, length: length ?? null });
  }

  /** In browsers a stream is gathered in memory first, since they send none over HTTP/1.1. */
  async writeFile(path: FilePath, body: FileBody | Blob, options: WriteFileOptions = {}): Promise<Stored> {
    const { mode, create_parents, if_match, if_none_match, signal } = options;
    const headers: Record<string, string> = {};
    if (if_match !== undefined) headers['if-match'] = tagList(if_match);
    if (if_none_match !== undefined) headers['if-none-match'] = tagList(if_none_match);
    const { body: bytes, failure } = await upload(body);
    const query = { ...path, mode: octal(mode), create_parents };
    try {
      return await this.#json({ method: 'PUT', path: '/fs/file', query, headers, body: bytes, signal });
    } catch (error) {
      const failed = failure();
      throw failed === null ? error : failed.error;
    }
  }

  createDirectory(path: FilePath, { recursive, mode, signal }: CreateDirectoryOptions = {}): Promise<Stored> {
    return this.#json({ method: 'PUT', path: '/fs/directory', query: { ...path, recursive, mode: octal(mode) }, signal });
  }

  getMetadata(path: FilePath, { follow_symlinks, signal }: MetadataOptions = {}): Promise<FileMetadata> {
    return this.#json({ path: '/fs/metadata', query: { ...path, follow_symlinks }, signal });
  }

  readDirectory(path: FilePath, { depth, limit, cursor, signal }: ReadDirectoryOptions = {}): Promise<DirectoryList> {
    return this.#json({ path: '/fs/directory', query: { ...path, depth, limit, cursor }, signal });
  }

  remove(path: FilePath, { recursive, force, signal }: RemoveOptions = {}): Promise<Removed> {
    return this.#json({ method: 'DELETE', path: '/fs/entry', query: { ...path, recursive, force }, signal });
  }

  copy(request: CopyRequest, { signal }: CallOptions = {}): Promise<Copied> {
    return this.#json({ method: 'POST', path: '/fs/copy', body: request, signal });
  }

  move(request: MoveRequest, { signal }: CallOptions = {}): Promise<void> {
    return this.#wire.empty({ method: 'POST', path: '/fs/move', body: request, signal });
  }

  async #json<T>(request: WireRequest): Promise<T> {
    return (await this.#wire.json<T>(request)).value;
  }
}

const octal = (mode: number | undefined) => mode?.toString(8);

const tagList = (tags: string[] | '*') => (tags === '*' ? tags : tags.join(', '));
