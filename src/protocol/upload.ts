import { type Static, Type } from '@sinclair/typebox';
import { Count, Instant, Nullable, Strict } from './schema.js';

/** The key of an upload in parts. */
export const UploadId = Type.String({ pattern: '^[A-Za-z0-9_-]{22}$', description: 'The key of the upload.' });

/** An upload in parts (tus 1.0: https://tus.io/protocols/resumable-upload). */
export const Upload = Strict(
  {
    upload_id: UploadId,
    size_bytes: Count('Bytes the file will have.'),
    offset_bytes: Count('Bytes that are here: send on from there.'),
    complete: Type.Boolean({ description: 'Whether the file is in its place.' }),
    expires_at: Nullable(Instant('When an unfinished one is given up unless more comes; null when it is complete.')),
  },
  { description: 'An upload in parts.' },
);
export type Upload = Static<typeof Upload>;
