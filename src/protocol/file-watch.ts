import { type Static, Type } from '@sinclair/typebox';
import { ERRORS, type ErrorCode } from './error.js';
import { FileType } from './file.js';
import { Count, Nullable, Strict, Words } from './schema.js';

/** The id of an event of a watch: which watch, and the how many-th event. Opaque to callers. */
export const WATCH_ID = '^[a-z0-9]{12}-(0|[1-9][0-9]{0,15})$';

/** First event of a watch that begins anew: from here on every change is told. */
export const WatchReadyData = Strict(
  {
    directories: Count('Directories that are watched.'),
    unreadable: Count('Directories below that cannot be read, so that changes in them are not told.'),
  },
  { description: 'The watch is set: every change from here on is told. List the directory now to know what there is.' },
);

/** What happened to an entry. */
export const FileChangeData = Strict(
  {
    path: Type.String({ description: 'Its path below the watched directory; what is not UTF-8 shows as U+FFFD.' }),
    path_base64: Nullable(Type.String({ description: 'That path as base64, where it is not UTF-8; else null.' })),
    type: FileType,
    error: Nullable(
      Type.String({
        description: 'The error code that keeps a new directory from being watched, so that changes in it are not told; else null.',
      }),
    ),
  },
  {
    description:
      'An entry that came, changed or went, as it was found up to 50 ms later. A rename is a removed and a created. With a directory all below it is removed; what a new directory holds is told entry by entry.',
  },
);

/** Why changes may be missing. */
export const WatchOverflowData = Strict(
  {
    reason: Words(['system', 'evicted', 'unknown_id'], {
      description:
        'system: more happened at once than the system reports. evicted: the reader came too late for what is kept. unknown_id: the id is of a watch that is gone, such as one of an earlier gateway.',
    }),
  },
  { description: 'Changes may be missing before this event: list the directory again. From here on every change is told.' },
);

/** Why a watch is over. */
export const WatchEndedData = Strict(
  {
    code: Words(Object.keys(ERRORS) as ErrorCode[], {
      description: 'The error that watching again would meet: path_not_found when the directory was removed or renamed.',
    }),
  },
  { description: 'The last event: nothing is watched any more.' },
);

/** One event of a watch, with its id. */
export type FileChange =
  | ({ event: 'ready'; id: string } & Static<typeof WatchReadyData>)
  | ({ event: 'created' | 'modified' | 'removed'; id: string } & Static<typeof FileChangeData>)
  | ({ event: 'overflow'; id: string } & Static<typeof WatchOverflowData>)
  | ({ event: 'ended'; id: string } & Static<typeof WatchEndedData>);
