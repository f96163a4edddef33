import { type Static, Type } from '@sinclair/typebox';
import { DEFAULT_FILE_PAGE, MAX_FILE_PAGE, MAX_TREE_DEPTH } from './limits.js';
import { Count, Instant, Nullable, Strict, Words } from './schema.js';

/** A path as query parameters or fields: exactly one of the two. */
export const pathFields = {
  path: Type.Optional(
    Type.String({ description: 'Absolute, or relative to the file root. Taken as it is: nothing in it is decoded twice.' }),
  ),
  path_base64: Type.Optional(Type.String({ description: 'The path as standard base64, for one that is not UTF-8.' })),
};

/** What stands at a path. */
export const FileType = Words(['file', 'directory', 'symlink', 'fifo', 'socket', 'block', 'char'], { description: 'What stands there.' });
export type FileType = Static<typeof FileType>;

/** What is known of a file, directory or link. */
export const FileMetadata = Strict(
  {
    type: FileType,
    size_bytes: Count('Size in bytes. Files of /proc say 0 and hold more.'),
    mode: Count('Permission bits, with set-id and sticky: 0 to 4095.', { maximum: 0o7777 }),
    uid: Count("The owner's id."),
    gid: Count("The group's id."),
    modified_at: Instant('When its content last changed.'),
    created_at: Nullable(Instant('When it was made; null where the file system does not tell.')),
    etag: Nullable(Type.String({ description: 'Strong entity tag of the content, in quotes; null for what is no regular file.' })),
    target: Nullable(Type.String({ description: "A link's text; null for anything else." })),
    target_base64: Nullable(Type.String({ description: "A link's text as base64, where it is not UTF-8; else null." })),
  },
  { description: 'What is known of a file, directory or link.' },
);
export type FileMetadata = Static<typeof FileMetadata>;

/** One entry of a directory. */
export const DirectoryEntry = Strict({
  name: Type.String({ description: 'Its name; what is not UTF-8 shows as U+FFFD.' }),
  name_base64: Nullable(Type.String({ description: 'Its name as base64, where it is not UTF-8; else null.' })),
  path: Type.String({ description: 'Its path below the directory that was asked for; its name on the first level.' }),
  path_base64: Nullable(Type.String({ description: 'That path as base64, where it is not UTF-8; else null.' })),
  type: Nullable(FileType),
  metadata: Nullable(FileMetadata),
  error: Nullable(Type.String({ description: 'The error code that kept its metadata or its entries from being read; else null.' })),
});
export type DirectoryEntry = Static<typeof DirectoryEntry>;

/** One page of a directory, sorted by the bytes of the paths, a directory before what it holds. */
export const DirectoryList = Strict({
  entries: Type.Array(DirectoryEntry),
  next_cursor: Nullable(Type.String({ description: 'Give it as cursor for the next page; null at the end.' })),
});
export type DirectoryList = Static<typeof DirectoryList>;

/** Query of `GET /fs/directory`, beside the path. */
export const directoryFields = {
  depth: Type.Optional(Count('Levels to list.', { minimum: 1, maximum: MAX_TREE_DEPTH, default: 1 })),
  limit: Type.Optional(Count('Entries in one answer.', { minimum: 1, maximum: MAX_FILE_PAGE, default: DEFAULT_FILE_PAGE })),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the page before.' })),
};

const transferFields = {
  source_path: Type.Optional(Type.String({ description: 'What to take.' })),
  source_path_base64: Type.Optional(Type.String({ description: 'The same as base64.' })),
  destination_path: Type.Optional(
    Type.String({ description: 'What it is to be called: the new path itself, not a directory to put it in.' }),
  ),
  destination_path_base64: Type.Optional(Type.String({ description: 'The same as base64.' })),
  overwrite: Type.Optional(
    Type.Boolean({ description: 'Replace a file that is there; merge into a directory that is there. Default false: 409 path_exists.' }),
  ),
};

/** Body of `POST /fs/copy`. */
export const CopyRequest = Strict({
  ...transferFields,
  recursive: Type.Optional(Type.Boolean({ description: 'Copy a directory with all it holds. Default false: a directory is refused.' })),
});
export type CopyRequest = Static<typeof CopyRequest>;

/** Body of `POST /fs/move`. */
export const MoveRequest = Strict({
  ...transferFields,
  recursive: Type.Optional(Type.Boolean({ description: 'Allowed for a directory, and needed for none: a move takes all it holds.' })),
});
export type MoveRequest = Static<typeof MoveRequest>;

/** Answer to a copy. */
export const Copied = Strict({
  files: Count('Files and links made or replaced.'),
  directories: Count('Directories made.'),
  bytes: Count('Bytes of file content.'),
  skipped: Type.Array(Type.String(), { description: 'Special files left out of a tree (fifo, socket, device): the first 100 paths.' }),
});
export type Copied = Static<typeof Copied>;

/** Answer to a write of a file or the making of a directory. */
export const Stored = Strict({
  created: Type.Boolean({ description: 'False when it was there before.' }),
  metadata: FileMetadata,
});
export type Stored = Static<typeof Stored>;

/** Answer to `DELETE /fs/entry`. */
export const Removed = Strict({ removed: Type.Boolean({ description: 'False when nothing was there, which force allows.' }) });
export type Removed = Static<typeof Removed>;
