import { type Static, Type } from '@sinclair/typebox';
import { Count, Strict } from './schema.js';

/** What was made of a tar: the answer to `PUT /fs/archive`, and how far one came that was refused. */
export const Unpacked = Strict(
  {
    files: Count('Files made or replaced, hard links included.'),
    directories: Count('Directories made.'),
    links: Count('Symbolic links made or replaced.'),
    bytes: Count('Bytes of file content.'),
  },
  { description: 'What was made of the tar.' },
);
export type Unpacked = Static<typeof Unpacked>;

/** How a tar may be packed. */
export type ArchiveEncoding = 'gzip' | 'zstd';

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
