import type { ArchiveEncoding, Unpacked } from './archive.js';
import type { CallOptions } from './exec-process.js';
import type { Copied, CopyRequest, DirectoryList, FileMetadata, MoveRequest, Removed, Stored } from './file.js';
import type { FileChange } from './file-watch.js';
import type { SearchLine, SearchQuery } from './search.js';
import type { Upload } from './upload.js';

/** A path: absolute, or relative to the file root; as base64 where it is not UTF-8. Exactly one of the two. */
export interface FilePath {
  path?: string | undefined;
  path_base64?: string | undefined;
}

/** The signal also ends a body that is being read. */
export interface ReadFileOptions extends CallOptions {
  /** First byte. Default 0. At or beyond the end of a file that has a size: `range_not_satisfiable`, with `size_bytes`. */
  offset?: number | undefined;
  /** Bytes at most. Default: to the end of the file. */
  length?: number | undefined;
  /** Read only the content that has this etag, else `precondition_failed`. */
  if_match?: string | undefined;
  /** Whether a block may be overwritten when the next is asked for: new memory for each costs more than the reading. Default false. */
  reuse?: boolean | undefined;
}

/** The content of a file at one moment, read as it is iterated. */
export interface FileContent {
  /** Of the open file. */
  readonly metadata: FileMetadata;
  /** Bytes that will come, or null when that is only known at the end: a file of /proc says size 0 and holds more. */
  readonly length: number | null;
  /** To be iterated once; leaving the loop closes the file. It fails, and does not end, when the file shrinks below `length`. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Lets go of a content whose body is not iterated. */
  close(): Promise<void>;
}

/** What a file is to hold. A body that fails leaves the old file. */
export type FileBody = Uint8Array | AsyncIterable<Uint8Array>;

export interface WriteFileOptions extends CallOptions {
  /** Permission bits of the file. Default: those it has; 0666 less the umask for a new one. */
  mode?: number | undefined;
  /** Also make the directories above it. Default false. */
  create_parents?: boolean | undefined;
  /** Replace only a file with this etag or one of these, or any file (`*`); else `precondition_failed`. */
  if_match?: string | string[] | undefined;
  /** Replace no file with this etag or one of these, or make a new file only (`*`); else `precondition_failed`. */
  if_none_match?: string | string[] | undefined;
}

export interface AppendUploadOptions extends Omit<WriteFileOptions, 'create_parents'> {}

export interface CreateDirectoryOptions extends CallOptions {
  /** Also make the directories above it, and take one that is there. Default false: `path_exists`. */
  recursive?: boolean | undefined;
  /** Permission bits. Default 0777 less the umask. */
  mode?: number | undefined;
}

export interface MetadataOptions extends CallOptions {
  /** Tell of what a link leads to. Default false: of the link itself. */
  follow_symlinks?: boolean | undefined;
}

export interface ReadDirectoryOptions extends CallOptions {
  /** Levels, 1..64, default 1. Links are listed and not entered. */
  depth?: number | undefined;
  /** Entries in one answer, 1..10000, default 1000. */
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface RemoveOptions extends CallOptions {
  /** Remove a directory with all it holds. Default false: `directory_not_empty`. */
  recursive?: boolean | undefined;
  /** Take it as done when nothing is there. Default false: `path_not_found`. */
  force?: boolean | undefined;
  /** Remove only a file with this etag or one of these, or whatever is there (`*`); else `precondition_failed`. */
  if_match?: string | string[] | undefined;
}

/** How a tree is packed. */
export interface ReadArchiveOptions extends CallOptions {
  /** Leave out what may not be read, and say so in the tar. Default false: it fails. */
  skip_unreadable?: boolean | undefined;
}

export interface WriteArchiveOptions extends CallOptions {
  /** Also make the directories above it. Default false. */
  create_parents?: boolean | undefined;
  /** Also make links that lead out of the directory, or may. Nothing is ever written through a link. Default false: `unsafe_archive_entry`. */
  any_links?: boolean | undefined;
  /** How the tar is packed. Default: what its first bytes say. */
  encoding?: ArchiveEncoding | undefined;
}

/** An upload in parts, as every call names it: what is kept of it is beside its target, and nothing elsewhere. */
export interface UploadName extends FilePath {
  upload_id: string;
  size_bytes: number;
}

export interface WatchFilesOptions extends CallOptions {
  /** Also what is below the directories in it. Links are told of and not entered. Default false. */
  recursive?: boolean | undefined;
  /** The id of the last event seen: goes on after it, or begins with `overflow` where that cannot be. Default: from now on. */
  after_id?: string | undefined;
}

/**
 * Files, wherever they are: on this machine, or behind a gateway. Whoever holds one never knows which. All calls reject
 * with a `GatewayError`; no path leaves the file root, symlinks and races included.
 */
export interface ExecutorFileSystem {
  /** Follows links. Special files are refused with `not_regular_file`, at once. */
  readFile(path: FilePath, options?: ReadFileOptions): Promise<FileContent>;
  /** Replaces the file whole or not at all; follows a link to its target; keeps the mode. */
  writeFile(path: FilePath, body: FileBody, options?: WriteFileOptions): Promise<Stored>;
  createDirectory(path: FilePath, options?: CreateDirectoryOptions): Promise<Stored>;
  getMetadata(path: FilePath, options?: MetadataOptions): Promise<FileMetadata>;
  readDirectory(path: FilePath, options?: ReadDirectoryOptions): Promise<DirectoryList>;
  /** Removes a link, never its target; never the root. */
  remove(path: FilePath, options?: RemoveOptions): Promise<Removed>;
  /** Copies links as links, keeps modes, and tells the special files it left out. A single special file is refused. */
  copy(request: CopyRequest, options?: CallOptions): Promise<Copied>;
  /** Renames; between file systems `cross_device`. */
  move(request: MoveRequest, options?: CallOptions): Promise<void>;
  /**
   * Tells the changes in a directory, in batches at the reader's pace; leaving the loop ends it. Resolves when it is set: a
   * change made after that is told. Begins with `ready`, unless it goes on after `after_id`. Rejects with `not_a_directory`
   * for anything else, `too_many_watches` beyond the limits.
   */
  watch(path: FilePath, options?: WatchFilesOptions): Promise<AsyncIterable<FileChange[]>>;
  /**
   * Begins an upload in parts: what arrives is kept beside the target, and takes its place when it is whole. It outlives
   * connections and the gateway; without a byte for 24 h it is given up. The conditions are checked and not kept: they are to be
   * given with each part too. Rejects with `too_many_uploads` beyond the limits.
   */
  createUpload(path: FilePath, size_bytes: number, options?: WriteFileOptions): Promise<Upload>;
  /** How far an upload is. It ends an append that is under way: its caller may be gone. Rejects with `upload_not_found`. */
  getUpload(upload: UploadName, options?: CallOptions): Promise<Upload>;
  /**
   * Adds a part; what has arrived of one that fails is kept. With the last byte the file takes its place, under the conditions
   * and with the mode given here; when that fails, the last byte is to be sent again. Rejects with `upload_offset_mismatch`, and with
   * `upload_taken_over` when another call comes for the same upload.
   */
  appendUpload(upload: UploadName, offset_bytes: number, body: FileBody, options?: AppendUploadOptions): Promise<Upload>;
  /** Gives an upload up. */
  cancelUpload(upload: UploadName, options?: CallOptions): Promise<void>;
  /**
   * A tar of a directory, its entries named below it, or of one file. It is read as it is iterated, and to be iterated once;
   * it fails, and does not end, when a file shrinks or cannot be read. Links are kept as links, special files left out, and so
   * is what vanishes before its turn.
   */
  readArchive(path: FilePath, options?: ReadArchiveOptions): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Unpacks a tar into a directory, which is made when it is missing. Each file lands whole or not at all; what was made
   * before a failure stays, and the error tells it in `unpacked`. Rejects with `unsafe_archive_entry` for what would leave the
   * directory, `invalid_archive` for what is no whole tar, `payload_too_large` beyond the limits.
   */
  writeArchive(path: FilePath, body: FileBody, options?: WriteArchiveOptions): Promise<Unpacked>;
  /**
   * Searches a tree, or one file, for names and lines; what it finds comes in batches, a `SearchEnd` last. To be iterated once;
   * leaving the loop ends the search. Links are not followed. Rejects with `invalid_pattern` for a pattern that is none.
   */
  search(path: FilePath, query: SearchQuery, options?: CallOptions): Promise<AsyncIterable<SearchLine[]>>;
}
