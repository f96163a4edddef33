import { Type } from '@sinclair/typebox';
import { Unpacked } from '../../src/protocol/archive.js';
import { NDJSON_TYPE, SearchEnd, SearchMatch } from '../../src/protocol/search.js';
import type { Operation } from './operation.js';
import { PATH_ERRORS } from './path-errors.js';

const TAR = 'the bytes of a tar';

const FOUND = { path: 'src/main.ts', path_base64: null, type: 'file', line: 12, column: 7, text: 'const LIMIT = 10;', text_cut: false };
const END = {
  done: true,
  truncated: false,
  reason: null,
  matches: 1,
  files: 42,
  skipped: { binary: 3, too_large: 0, unreadable: 0 },
  elapsed_ms: 85,
};

/** The text of `GET /fs/search`, and what its lines are when parsed. */
const SearchLines = Type.String({ contentMediaType: NDJSON_TYPE, contentSchema: Type.Array(Type.Union([SearchMatch, SearchEnd])) });

/** The operations of trees of files, by method and path. */
export const TREE_OPERATIONS: Record<string, Operation> = {
  'GET /fs/archive': {
    operationId: 'readArchive',
    tag: 'Files',
    summary: 'Read a tree as a tar',
    description:
      'Streams a tar (pax) of a directory, its entries named below it and sorted by their bytes, or of one file. Modes, owners by number, times to the nanosecond, links as links, names of any bytes. A link at the end of the path is followed, and no other; hard links come as files of their own; special files, and what vanishes before its turn, are left out. A file that becomes shorter or cannot be read breaks the transfer off, so that it never looks complete; what fails in the first 256 KiB is told as an error. Packed when Accept-Encoding asks for it: gzip, and zstd where the gateway runs on Node 22.15 or later.',
    headers: ['Accept-Encoding'],
    replies: {
      200: {
        description: 'The tar.',
        content: { 'application/x-tar': { schema: Type.String({ format: 'binary' }), example: TAR } },
        headers: ['Content-Disposition', 'Content-Encoding', 'Vary'],
      },
    },
    errors: [...PATH_ERRORS, 'not_regular_file', 'file_busy'],
  },
  'PUT /fs/archive': {
    operationId: 'writeArchive',
    tag: 'Files',
    summary: 'Unpack a tar into a directory',
    description:
      'The directory is made when it is missing. Files replace files and links, each lands whole or not at all; directories are merged, and one that was there keeps its mode. Modes and times are those of the tar, set-id bits and owners are not taken. Refused by name, with 422 unsafe_archive_entry: absolute names, "..", symbolic and hard links that lead out of the directory (or have ".." after a name), ways through a link, devices and fifos. What was made before a failure stays, is told in unpacked, and is the same when the tar is sent again. The body is a plain tar (ustar, pax, GNU, not sparse), or one packed with gzip or zstd: Content-Encoding says so, else its first bytes do.',
    headers: ['Content-Encoding'],
    upload: { type: '*/*', example: TAR },
    replies: {
      200: {
        description: 'All of it is unpacked.',
        content: { 'application/json': { schema: Unpacked, example: { files: 12, directories: 3, links: 1, bytes: 48213 } } },
      },
    },
    errors: [
      ...PATH_ERRORS,
      'root_protected',
      'read_only_file_system',
      'path_exists',
      'is_a_directory',
      'file_busy',
      'no_space',
      'cross_device',
      'invalid_archive',
      'unsafe_archive_entry',
      'payload_too_large',
      'unsupported_media_type',
    ],
  },
  'GET /fs/search': {
    operationId: 'searchFiles',
    tag: 'Files',
    summary: 'Search a tree',
    description:
      'Streams what it finds, one JSON value a line, in the order of the paths; the last line has done true, and an answer without it is not whole. With text it tells lines, each once, with the place of the first match; without it the paths that fit glob. Directories are searched to their depth, links are not followed (but one that the path ends in), empty files such as those of /proc only when they are named. Files with a NUL byte are binary and left from there on. text is literal unless regex is true; no pattern takes more than linear time, and the search as a whole no more than timeout_ms. A caller that leaves ends it.',
    replies: {
      200: {
        description: 'What it found.',
        content: { [NDJSON_TYPE]: { schema: SearchLines, example: `${JSON.stringify(FOUND)}\n${JSON.stringify(END)}\n` } },
      },
    },
    errors: [...PATH_ERRORS, 'not_regular_file', 'invalid_pattern'],
  },
};
