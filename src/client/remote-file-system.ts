import type { Unpacked } from '../protocol/archive.js';
import type { CallOptions } from '../protocol/exec-process.js';
import type { Copied, CopyRequest, DirectoryList, FileMetadata, MoveRequest, Removed, Stored } from '../protocol/file.js';
import type {
  AppendUploadOptions,
  CreateDirectoryOptions,
  ExecutorFileSystem,
  FileBody,
  FileContent,
  FilePath,
  MetadataOptions,
  ReadArchiveOptions,
  ReadDirectoryOptions,
  ReadFileOptions,
  RemoveOptions,
  UploadName,
  WatchFilesOptions,
  WriteArchiveOptions,
  WriteFileOptions,
} from '../protocol/file-system.js';
import type { FileChange } from '../protocol/file-watch.js';
import type { SearchLine, SearchQuery } from '../protocol/search.js';
import type { Upload } from '../protocol/upload.js';
import { conditionHeaders, octal } from './file-query.js';
import { FILE_CHANGE_FORMS, FileWatchSource } from './file-watch-source.js';
import { LastingStream } from './lasting-stream.js';
import { RemoteContent } from './remote-content.js';
import type { RemoteOptions } from './remote-exec-process.js';
import { RemoteUploads } from './remote-uploads.js';
import { type RetryOptions, retrySettings } from './retry.js';
import { searchLines, streamBytes } from './search-stream.js';
import { upload } from './upload-stream.js';
import { Wire, type WireRequest } from './wire.js';

/**
 * Files behind a gateway, over `fetch` alone. Calls reject with the `GatewayError` that the gateway threw, or with
 * `upstream_unreachable` when it was not reached. Nothing is tried again but a watch.
 */
export class RemoteFileSystem implements ExecutorFileSystem {
  readonly #wire: Wire;
  readonly #retry: Required<RetryOptions>;
  readonly #uploads: RemoteUploads;

  /** @throws {GatewayError} `invalid_argument` for an address that cannot be called */
  constructor(options: RemoteOptions) {
    this.#wire = new Wire(options);
    this.#retry = retrySettings(options.retry);
    this.#uploads = new RemoteUploads(this.#wire);
  }

  async readFile(path: FilePath, { offset = 0, length, if_match, signal }: ReadFileOptions = {}): Promise<FileContent> {
    const headers: Record<string, string> = { 'accept-encoding': 'identity' };
    // No range is empty: of one byte the headers are enough.
    const last = length === undefined ? '' : offset + Math.max(1, length) - 1;
    if (offset > 0 || length !== undefined) headers.range = `bytes=${offset}-${last}`;
    if (if_match !== undefined) headers['if-match'] = if_match;
    const stream = await this.#wire.stream({ path: '/fs/file', query: { ...path }, headers, signal });
    return new RemoteContent(stream, { offset, length: length ?? null });
  }

  /** In browsers a stream is gathered in memory first, since they send none over HTTP/1.1. */
  async writeFile(path: FilePath, body: FileBody | Blob, options: WriteFileOptions = {}): Promise<Stored> {
    const { mode, create_parents, signal } = options;
    const headers = conditionHeaders(options);
    const query = { ...path, mode: octal(mode), create_parents };
    return await this.#upload({ path: '/fs/file', query, headers, signal }, body);
  }

  createDirectory(path: FilePath, { recursive, mode, signal }: CreateDirectoryOptions = {}): Promise<Stored> {
    return this.#json({ method: 'PUT', path: '/fs/directory', query: { ...path, recursive, mode: octal(mode) }, signal });
  }

  getMetadata(path: FilePath, { follow_symlinks, signal }: MetadataOptions = {}): Promise<FileMetadata> {
    return this.#json({ path: '/fs/metadata', query: { ...path, follow_symlinks }, answer: 'type', signal });
  }

  readDirectory(path: FilePath, { depth, limit, cursor, signal }: ReadDirectoryOptions = {}): Promise<DirectoryList> {
    return this.#json({ path: '/fs/directory', query: { ...path, depth, limit, cursor }, answer: 'entries', signal });
  }

  remove(path: FilePath, options: RemoveOptions = {}): Promise<Removed> {
    const { recursive, force, signal } = options;
    const headers = conditionHeaders(options);
    return this.#json({ method: 'DELETE', path: '/fs/entry', query: { ...path, recursive, force }, headers, answer: 'removed', signal });
  }

  copy(request: CopyRequest, { signal }: CallOptions = {}): Promise<Copied> {
    return this.#json({ method: 'POST', path: '/fs/copy', body: request, signal });
  }

  move(request: MoveRequest, { signal }: CallOptions = {}): Promise<void> {
    return this.#wire.empty({ method: 'POST', path: '/fs/move', body: request, signal });
  }

  createUpload(path: FilePath, size_bytes: number, options?: WriteFileOptions): Promise<Upload> {
    return this.#uploads.create(path, size_bytes, options);
  }

  getUpload(upload: UploadName, options?: CallOptions): Promise<Upload> {
    return this.#uploads.get(upload, options);
  }

  appendUpload(upload: UploadName, offset_bytes: number, body: FileBody | Blob, options?: AppendUploadOptions): Promise<Upload> {
    return this.#uploads.append(upload, offset_bytes, body, options);
  }

  cancelUpload(upload: UploadName, options?: CallOptions): Promise<void> {
    return this.#uploads.cancel(upload, options);
  }

  /** Outlives its connections: each goes on where the last one broke, and tells what was missed by an overflow. */
  watch(path: FilePath, { recursive, after_id, signal }: WatchFilesOptions = {}): Promise<AsyncIterable<FileChange[]>> {
    const open = (after_id: string | undefined, signal: AbortSignal) =>
      this.#wire.events({ path: '/fs/watch', query: { ...path, recursive, after_id }, signal }, FILE_CHANGE_FORMS);
    return LastingStream.open(new FileWatchSource(open, after_id), this.#retry, signal);
  }

  async readArchive(path: FilePath, { skip_unreadable, signal }: ReadArchiveOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    // Packing is for slow lines; whoever asks here for a tar gets it unpacked. Browsers do as they like.
    const headers = { 'accept-encoding': 'identity' };
    return streamBytes(await this.#wire.stream({ path: '/fs/archive', query: { ...path, skip_unreadable }, headers, signal }));
  }

  async writeArchive(path: FilePath, body: FileBody | Blob, options: WriteArchiveOptions = {}): Promise<Unpacked> {
    const { create_parents, any_links, encoding, signal } = options;
    const headers: Record<string, string> = encoding === undefined ? {} : { 'content-encoding': encoding };
    return await this.#upload({ path: '/fs/archive', query: { ...path, create_parents, any_links }, headers, signal }, body);
  }

  async search(path: FilePath, query: SearchQuery, { signal }: CallOptions = {}): Promise<AsyncIterable<SearchLine[]>> {
    return searchLines(await this.#wire.stream({ path: '/fs/search', query: { ...path, ...query }, signal }));
  }

  /** What the body failed with is told, and not what became of the connection for it. */
  async #upload<T>(request: WireRequest, source: FileBody | Blob): Promise<T> {
    const { body, failure } = await upload(source);
    try {
      return await this.#json({ ...request, method: 'PUT', body });
    } catch (error) {
      const failed = failure();
      throw failed === null ? error : failed.error;
    }
  }

  async #json<T>(request: WireRequest): Promise<T> {
    return (await this.#wire.json<T>(request)).value;
  }
}
