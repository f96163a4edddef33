import type { CallOptions } from '../protocol/exec-process.js';
import type { Copied, CopyRequest, DirectoryEntry, FileMetadata, MoveRequest, Removed, Stored } from '../protocol/file.js';
import type {
  CreateDirectoryOptions,
  ExecutorFileSystem,
  FileBody,
  FilePath,
  MetadataOptions,
  ReadDirectoryOptions,
  ReadFileOptions,
  RemoveOptions,
  WriteFileOptions,
} from '../protocol/file-system.js';
import { lastingBytes } from './lasting-bytes.js';
import { BYTES_PER_MS, persist, startRetry } from './persist.js';
import type { RetryOptions } from './retry.js';

/** A path as text, or as it is on the wire where it is not UTF-8. */
type Path = string | FilePath;

type CopyOptions = Pick<CopyRequest, 'recursive' | 'overwrite'> & CallOptions;
type MoveOptions = Pick<MoveRequest, 'overwrite'> & CallOptions;

/** The files of a gateway, as one likes to use them. Paths are absolute, or relative to the file root. */
export class Files {
  /** The same files call by call, without retries. */
  readonly system: ExecutorFileSystem;
  readonly #retry: Required<RetryOptions>;

  constructor(system: ExecutorFileSystem, retry: Required<RetryOptions>) {
    this.system = system;
    this.#retry = retry;
  }

  /**
   * The content as it comes. A dropped connection is taken up again where it broke, as long as the file is the same; a gateway
   * that was never reached is told of as soon as by a write.
   */
  read(path: Path, options: ReadFileOptions = {}): AsyncGenerator<Uint8Array, void> {
    const open = async (place: ReadFileOptions) => {
      const { metadata, body } = await this.system.readFile(wirePath(path), place);
      return { etag: metadata.etag, body };
    };
    return lastingBytes(open, options, this.#retry);
  }

  /** The content in one piece: it must fit into memory. */
  async readBytes(path: Path, options: ReadFileOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const parts: BlobPart[] = [];
    for await (const bytes of this.read(path, options)) parts.push(bytes as Uint8Array<ArrayBuffer>);
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }

  /** The content as text; what is not UTF-8 is replaced. */
  async readText(path: Path, options: ReadFileOptions = {}): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await this.readBytes(path, options));
  }

  /**
   * Replaces a file whole or not at all. Text, bytes and blobs are sent again when the connection drops, but not under a
   * condition, which the first attempt may have made false; a stream is sent once.
   */
  write(path: Path, content: string | FileBody | Blob, { signal, ...options }: WriteFileOptions = {}): Promise<Stored> {
    const body = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const write = (signal?: AbortSignal) => this.system.writeFile(wirePath(path), body as FileBody, { ...options, signal });
    const size = body instanceof Uint8Array ? body.length : body instanceof Blob ? body.size : null;
    if (size === null || options.if_match !== undefined || options.if_none_match !== undefined) return write(signal);
    return persist(write, { retry: startRetry(this.#retry), wait_ms: size / BYTES_PER_MS, signal });
  }

  /** What stands at a path. */
  metadata(path: Path, options: MetadataOptions = {}): Promise<FileMetadata> {
    return this.system.getMetadata(wirePath(path), options);
  }

  /** All entries of a directory, sorted, page by page. */
  async *entries(path: Path, options: Omit<ReadDirectoryOptions, 'cursor'> = {}): AsyncGenerator<DirectoryEntry, void> {
    let cursor: string | undefined;
    do {
      const page = await this.system.readDirectory(wirePath(path), { ...options, cursor });
      yield* page.entries;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Makes a directory. */
  createDirectory(path: Path, options: CreateDirectoryOptions = {}): Promise<Stored> {
    return this.system.createDirectory(wirePath(path), options);
  }

  /** Removes a file or link, or, with `recursive`, a directory. */
  remove(path: Path, options: RemoveOptions = {}): Promise<Removed> {
    return this.system.remove(wirePath(path), options);
  }

  /** Copies; `to` is the new path itself. */
  copy(from: Path, to: Path, { signal, ...options }: CopyOptions = {}): Promise<Copied> {
    return this.system.copy({ ...transfer(from, to), ...options }, { signal });
  }

  /** Renames; `to` is the new path itself. */
  move(from: Path, to: Path, { signal, ...options }: MoveOptions = {}): Promise<void> {
    return this.system.move({ ...transfer(from, to), ...options }, { signal });
  }
}

const wirePath = (path: Path): FilePath => (typeof path === 'string' ? { path } : path);

function transfer(from: Path, to: Path): MoveRequest {
  const [source, destination] = [wirePath(from), wirePath(to)];
  const { path: source_path, path_base64: source_path_base64 } = source;
  const { path: destination_path, path_base64: destination_path_base64 } = destination;
  return { source_path, source_path_base64, destination_path, destination_path_base64 } as MoveRequest;
}
