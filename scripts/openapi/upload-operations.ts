import type { ErrorCode } from '../../src/protocol/error.js';
import { Upload } from '../../src/protocol/upload.js';
import { UPLOAD_TYPE } from '../../src/protocol/upload-type.js';
import type { Operation, Reply } from './operation.js';
import { PATH_ERRORS } from './path-errors.js';

const PATH: ErrorCode[] = [...PATH_ERRORS, 'precondition_failed'];
const WRITE: ErrorCode[] = [
  'root_protected',
  'read_only_file_system',
  'path_exists',
  'file_busy',
  'no_space',
  'is_a_directory',
  'not_regular_file',
  'payload_too_large',
];

const UPLOAD = {
  upload_id: 'V1StGXR8Z5jdHi6BmyTq3A',
  size_bytes: 5368709120,
  offset_bytes: 0,
  complete: false,
  expires_at: '2026-01-16T09:30:00.000Z',
};
const TOLD = ['Tus-Resumable', 'Upload-Offset', 'Upload-Length', 'Upload-Expires'];
const one = (description: string, headers: string[]): Reply => ({
  description,
  content: { 'application/json': { schema: Upload, example: UPLOAD } },
  headers,
});

/** The operations of uploads in parts, by method and path. */
export const UPLOAD_OPERATIONS: Record<string, Operation> = {
  'POST /fs/uploads': {
    operationId: 'createUpload',
    tag: 'Files',
    summary: 'Begin an upload in parts',
    description:
      'For big files over lines that break, as clients of tus 1.0 send them (core, creation, expiration, termination): give them this address with its path as endpoint. What arrives is kept in a file beside the target and takes its place, whole, with the last byte. It outlives connections and a restart of the gateway; without a byte for 24 h it is given up. If-Match, If-None-Match and mode are those of the file that is replaced: they are held against it now and, since Location has them, again when the last part is here.',
    headers: ['Tus-Resumable', 'Upload-Length', 'If-Match', 'If-None-Match'],
    replies: { 201: one('Begun; Location is where the parts go.', ['Location', ...TOLD]) },
    errors: [...PATH, ...WRITE, 'unsupported_media_type', 'too_many_uploads'],
  },
  'GET /fs/uploads/{upload_id}': {
    operationId: 'getUpload',
    tag: 'Files',
    summary: 'How far an upload is',
    description:
      'It ends a part that is under way, whose sender may be gone: what has arrived of it is kept. One that is finished is remembered until the gateway is restarted, at most a thousand of them.',
    headers: ['Tus-Resumable'],
    replies: { 200: one('What is here.', TOLD) },
    errors: [...PATH, 'upload_not_found', 'uri_too_long', 'upload_taken_over'],
  },
  'HEAD /fs/uploads/{upload_id}': {
    operationId: 'headUpload',
    tag: 'Files',
    summary: 'How far an upload is, in headers',
    description: 'The same as GET, as clients of tus ask it. An error is told by its status alone.',
    headers: ['Tus-Resumable'],
    replies: { 200: one('What is here.', TOLD) },
    errors: [...PATH, 'upload_not_found', 'uri_too_long', 'upload_taken_over'],
  },
  'PATCH /fs/uploads/{upload_id}': {
    operationId: 'appendUpload',
    tag: 'Files',
    summary: 'Send a part',
    description:
      'Upload-Offset is where the part begins, which is where the upload ends so far. What has arrived of a part that breaks off is kept. Of two calls for one upload the later one goes on. When the file cannot take its place, because a condition does not hold or for another reason, the error says why, what has arrived stays, and the last byte is to be sent again. A part with conditions of its own is held to those, and not to those the upload began with.',
    headers: ['Tus-Resumable', 'Upload-Offset', 'If-Match', 'If-None-Match'],
    upload: { type: UPLOAD_TYPE, example: 'hello\n' },
    replies: { 204: { description: 'Kept; with the last byte the file is in its place, and Upload-Expires is gone.', headers: TOLD } },
    errors: [
      ...PATH,
      ...WRITE,
      'upload_not_found',
      'uri_too_long',
      'unsupported_media_type',
      'upload_offset_mismatch',
      'upload_taken_over',
      'too_many_uploads',
    ],
  },
  'DELETE /fs/uploads/{upload_id}': {
    operationId: 'cancelUpload',
    tag: 'Files',
    summary: 'Give an upload up',
    headers: ['Tus-Resumable'],
    replies: { 204: { description: 'Gone, with what had arrived.', headers: ['Tus-Resumable'] } },
    errors: [...PATH, 'unsupported_media_type', 'read_only_file_system', 'upload_not_found', 'uri_too_long', 'upload_taken_over'],
  },
};
