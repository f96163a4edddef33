import { type Static, Type } from '@sinclair/typebox';
import { Count, Strict } from './schema.js';

/** What was made of a tar: the answer to `PUT /fs/archive`, and how far one came that was refused. */
export const Unpacked = Strict(
  {
    files: Count('Files made or replaced, hard links included.'),
    directories: Count('Directories made.'),
    links: Count('Symbolic links made or replaced.'),
    bytes: Count('Bytes of file content.'),
    unreadable: Type.Optional(
      Type.Array(
        Strict({
          path: Type.String({ description: 'Where it lies in the tree; what is not UTF-8 is replaced.' }),
          code: Type.String({ description: 'The error that it was met with.' }),
        }),
        {
          description: 'What whoever packed the tar could not read and left out (`skip_unreadable`), the first 1,000; absent when nothing.',
        },
      ),
    ),
  },
  { description: 'What was made of the tar.' },
);
export type Unpacked = Static<typeof Unpacked>;

/** How a tar may be packed. */
export type ArchiveEncoding = 'gzip' | 'zstd';

/** Query of `GET /fs/archive`, beside the path. */
export const packFields = {
  skip_unreadable: Type.Optional(
    Type.Boolean({
      description:
        'Leave out what the gateway may not read, and go on. The tar says what, in records that `PUT /fs/archive` answers with and other readers pass over. Default: the transfer fails.',
      default: false,
    }),
  ),
};

/** Query of `PUT /fs/archive`, beside the path. */
export const archiveFields = {
  create_parents: Type.Optional(Type.Boolean({ description: 'Also make the directories above the one that is written.', default: false })),
  any_links: Type.Optional(
    Type.Boolean({
      description:
        'Also make symbolic links that lead out of the directory, or may. Nothing is written through a link. Default: they are refused.',
      default: false,
    }),
  ),
};
