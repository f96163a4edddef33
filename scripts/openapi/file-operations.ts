import { Type } from '@sinclair/typebox';
import type { ErrorCode } from '../../src/protocol/error.js';
import { Copied, DirectoryList, FileMetadata, Removed, Stored } from '../../src/protocol/file.js';
import type { Operation, Reply } from './operation.js';
import { PATH_ERRORS } from './path-errors.js';

const Octets = Type.String({ format: 'binary' });

/** What a change of what is on disk can meet besides. */
const CHANGE: ErrorCode[] = ['root_protected', 'read_only_file_system', 'path_exists', 'file_busy', 'no_space'];

const BODY: ErrorCode[] = ['invalid_json', 'payload_too_large', 'unsupported_media_type'];

const METADATA = {
  type: 'file',
  size_bytes: 6,
  mode: 420,
  uid: 1000,
  gid: 1000,
  modified_at: '2026-01-15T09:30:00.000Z',
  created_at: '2026-01-15T09:30:00.000Z',
  etag: '"801-3f2a-6-18a2"',
  target: null,
  target_base64: null,
};
const DIRECTORY = { ...METADATA, type: 'directory', size_bytes: 4096, mode: 493, etag: null };
const ENTRY = { name: 'notes.txt', name_base64: null, path: 'notes.txt', path_base64: null, type: 'file', metadata: METADATA, error: null };

const FILE_HEADERS = ['ETag', 'Last-Modified', 'Accept-Ranges', 'Exec-Metadata', 'Content-Disposition'];
const ASKING = ['Range', 'If-Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'];

function json(description: string, schema: object, example: unknown, headers: string[] = []): Reply {
  return { description, content: { 'application/json': { schema, example } }, headers };
}

const content = (description: string, headers: string[]): Reply => ({
  description,
  content: { '*/*': { schema: Octets, example: 'hello\n' } },
  headers: [...FILE_HEADERS, ...headers],
});
const UNCHANGED: Reply = { description: 'The caller has this content already.', headers: FILE_HEADERS };

/** The operations of files, by method and path. */
export const FILE_OPERATIONS: Record<string, Operation> = {
  'GET /fs/file': {
    operationId: 'readFile',
    tag: 'Files',
    summary: 'Read a file',
    description:
      'Streams a regular file, whole or in parts, whatever its size. Its type is told by its name; it is never run as a page or a script of this origin: scripts and style sheets are told as text/plain, and what a browser might run (HTML, SVG, PDF and all that is neither plain text, JSON, sound nor picture) comes as an attachment, under a policy of sandbox and nosniff. Several ranges come as multipart/byteranges, those that touch as one. A date in If-Range never counts: use the ETag. Exec-Metadata is the metadata of the content as one line of JSON. A file of /proc, which says it is empty, is read to its end. A transfer that breaks off was not the whole file.',
    headers: ASKING,
    replies: { 200: content('The whole file.', []), 206: content('The parts asked for.', ['Content-Range']), 304: UNCHANGED },
    errors: [...PATH_ERRORS, 'is_a_directory', 'not_regular_file', 'precondition_failed', 'range_not_satisfiable'],
  },
  'HEAD /fs/file': {
    operationId: 'headFile',
    tag: 'Files',
    summary: 'Headers of a file',
    description: 'What GET would answer, without the content. An error is told by its status alone.',
    headers: ASKING.slice(2),
    replies: { 200: content('The headers.', []), 304: UNCHANGED },
    errors: [...PATH_ERRORS, 'is_a_directory', 'not_regular_file', 'precondition_failed'],
  },
  'PUT /fs/file': {
    operationId: 'writeFile',
    tag: 'Files',
    summary: 'Write a file',
    description:
      'Stores the body, of any type, as it comes and as it is: the file is replaced when all of it has arrived and is on disk, or not at all. A link is followed and stays; mode and, where allowed, owner stay; other hard links keep the old content. With If-Match or If-None-Match of two writers one gets 412. If-None-Match: * makes a new file only. Content-Range and Content-Encoding are refused.',
    headers: ['If-Match', 'If-None-Match', 'If-Unmodified-Since'],
    upload: { type: '*/*', example: 'hello\n' },
    replies: {
      200: json('Replaced.', Stored, { created: false, metadata: METADATA }, ['ETag']),
      201: json('Made.', Stored, { created: true, metadata: METADATA }, ['ETag']),
    },
    errors: [
      ...PATH_ERRORS,
      ...CHANGE,
      'is_a_directory',
      'not_regular_file',
      'precondition_failed',
      'payload_too_large',
      'unsupported_media_type',
    ],
  },
  'GET /fs/metadata': {
    operationId: 'getMetadata',
    tag: 'Files',
    summary: 'Look at a file',
    description: 'Of anything: file, directory, link, fifo, socket, device. A link is told of itself unless follow_symlinks is true.',
    replies: { 200: json('What stands there.', FileMetadata, METADATA) },
    errors: PATH_ERRORS,
  },
  'GET /fs/directory': {
    operationId: 'readDirectory',
    tag: 'Files',
    summary: 'List a directory',
    description:
      'Sorted by the bytes of the paths, a directory before what it holds; links are listed and not entered. An entry that cannot be looked at has an error and does not fail the rest. Names that are not UTF-8 come in base64 too.',
    replies: { 200: json('One page.', DirectoryList, { entries: [ENTRY], next_cursor: null }) },
    errors: [...PATH_ERRORS, 'invalid_cursor', 'not_regular_file'],
  },
  'PUT /fs/directory': {
    operationId: 'createDirectory',
    tag: 'Files',
    summary: 'Make a directory',
    replies: {
      200: json('It was there, which recursive allows.', Stored, { created: false, metadata: DIRECTORY }),
      201: json('Made.', Stored, { created: true, metadata: DIRECTORY }),
    },
    errors: [...PATH_ERRORS, ...CHANGE, ...BODY],
  },
  'DELETE /fs/entry': {
    operationId: 'removeEntry',
    tag: 'Files',
    summary: 'Remove a file, link or directory',
    description:
      'A link is removed, never its target; the root never. A directory with entries needs recursive. With If-Match of two callers, writers included, one gets 412; a link or directory has no ETag, and only * holds for it.',
    headers: ['If-Match'],
    replies: { 200: json('Gone.', Removed, { removed: true }) },
    errors: [...PATH_ERRORS, ...CHANGE, ...BODY, 'directory_not_empty', 'is_a_directory', 'precondition_failed'],
  },
  'POST /fs/copy': {
    operationId: 'copyEntry',
    tag: 'Files',
    summary: 'Copy a file, link or directory',
    description:
      'destination_path is the new path itself. Links are copied as links; special files in a tree are left out and told in skipped; a single one is refused. overwrite replaces a file and merges into a directory.',
    example: { source_path: 'src', destination_path: 'src.bak', recursive: true },
    replies: { 200: json('Copied.', Copied, { files: 2, directories: 1, bytes: 4096, skipped: [] }) },
    errors: [...PATH_ERRORS, ...CHANGE, ...BODY, 'copy_into_itself', 'is_a_directory', 'not_regular_file', 'directory_not_empty'],
  },
  'POST /fs/move': {
    operationId: 'moveEntry',
    tag: 'Files',
    summary: 'Move a file, link or directory',
    description: 'One rename, within one file system. overwrite replaces a file.',
    example: { source_path: 'notes.txt', destination_path: 'old/notes.txt' },
    replies: { 204: { description: 'Moved.' } },
    errors: [
      ...PATH_ERRORS,
      ...CHANGE,
      ...BODY,
      'copy_into_itself',
      'is_a_directory',
      'not_regular_file',
      'directory_not_empty',
      'cross_device',
    ],
  },
};
