import { type Static, Type } from '@sinclair/typebox';
import { FileType } from './file.js';
import {
  DEFAULT_SEARCH_MATCHES,
  DEFAULT_SEARCH_MS,
  MAX_GLOB_CHARS,
  MAX_GLOBS,
  MAX_SEARCH_MATCHES,
  MAX_SEARCH_MS,
  MAX_SEARCH_TEXT_CHARS,
} from './limits.js';
import { Count, Nullable, Strict, Words } from './schema.js';

/** Query of `GET /fs/search`, beside the path. */
export const searchFields = {
  glob: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: MAX_GLOB_CHARS }), {
      maxItems: MAX_GLOBS,
      description:
        'Only files whose path fits, or, without text, every path that fits: `*` and `?` within a name, `**` across directories, `[a-z]`, `{a,b}`. Without a slash it is held against the name alone. Repeat it to take what fits one of several.',
    }),
  ),
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_SEARCH_TEXT_CHARS,
      description: 'What a line has to hold. Taken literally unless regex is true.',
    }),
  ),
  regex: Type.Optional(
    Type.Boolean({ description: 'text is a regular expression in the syntax of RE2, held against one line at a time.', default: false }),
  ),
  ignore_case: Type.Optional(Type.Boolean({ description: 'Upper and lower case are the same in text.', default: false })),
  gitignore: Type.Optional(
    Type.Boolean({ description: 'Leave out .git and what the .gitignore files of the tree and above it leave out.', default: false }),
  ),
  limit: Type.Optional(Count('Matches at most.', { minimum: 1, maximum: MAX_SEARCH_MATCHES, default: DEFAULT_SEARCH_MATCHES })),
  timeout_ms: Type.Optional(
    Count('Time for the whole search, in milliseconds.', { minimum: 1, maximum: MAX_SEARCH_MS, default: DEFAULT_SEARCH_MS }),
  ),
};
const SearchQuery = Strict(searchFields);
export type SearchQuery = Static<typeof SearchQuery>;

/** A line that fits; a path alone when no text was asked for. */
export const SearchMatch = Strict(
  {
    path: Type.String({ description: 'The path below the directory that was searched; the name, when it was a file.' }),
    path_base64: Nullable(Type.String({ description: 'That path as base64, where it is not UTF-8; else null.' })),
    type: FileType,
    line: Nullable(Count('Number of the line, from 1; null without text.')),
    column: Nullable(Count('Where the first match in the line begins, in bytes from 1; null without text.')),
    text: Nullable(
      Type.String({ description: 'The line, or the part of a long one where the match is; what is not UTF-8 shows as U+FFFD.' }),
    ),
    text_cut: Type.Boolean({ description: 'Whether text is a part of the line.' }),
  },
  { description: 'A line that fits, or a path.' },
);
export type SearchMatch = Static<typeof SearchMatch>;

/** The last line of every search: without it the answer is not whole. */
export const SearchEnd = Strict(
  {
    done: Type.Literal(true),
    truncated: Type.Boolean({ description: 'Whether there may be more than was told.' }),
    reason: Nullable(
      Words(['limit', 'timeout', 'memory'], {
        description: 'What ended it: the limit of matches, of time, or of memory. Null at the end of the tree.',
      }),
    ),
    matches: Count('Matches told.'),
    files: Count('Files looked at: their names, or with text their content.'),
    skipped: Strict(
      {
        binary: Count('Files that hold a NUL byte.'),
        too_large: Count('Files larger than MAX_SEARCH_FILE_BYTES.'),
        unreadable: Count('Files and directories that could not be opened or read, or lie too deep.'),
      },
      { description: 'What was not looked at.' },
    ),
    elapsed_ms: Count('Time it took, in milliseconds.'),
  },
  { description: 'The last line.' },
);
export type SearchEnd = Static<typeof SearchEnd>;

/** One line of `GET /fs/search`. */
export type SearchLine = SearchMatch | SearchEnd;

/** The media type of a search: one JSON value a line. */
export const NDJSON_TYPE = 'application/x-ndjson';
