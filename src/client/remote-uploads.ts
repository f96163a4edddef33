import type { CallOptions } from '../protocol/exec-process.js';
import type { AppendUploadOptions, FileBody, FilePath, UploadName, WriteFileOptions } from '../protocol/file-system.js';
import type { Upload } from '../protocol/upload.js';
import { UPLOAD_TYPE } from '../protocol/upload-type.js';
import { conditionHeaders, octal } from './file-query.js';
import { upload as uploadBody } from './upload-stream.js';
import type { Wire } from './wire.js';

/** Uploads in parts behind a gateway (tus 1.0). Nothing is tried again: whoever sends knows what was sent. */
export class RemoteUploads {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  async create(path: FilePath, size_bytes: number, options: WriteFileOptions = {}): Promise<Upload> {
    const { mode, create_parents, signal } = options;
    const headers = { ...conditionHeaders(options), 'upload-length': String(size_bytes) };
    const query = { ...path, mode: octal(mode), create_parents };
    return (await this.#wire.json<Upload>({ method: 'POST', path: '/fs/uploads', query, headers, answer: 'upload_id', signal })).value;
  }

  async get(upload: UploadName, { signal }: CallOptions = {}): Promise<Upload> {
    return (await this.#wire.json<Upload>({ ...address(upload), answer: 'upload_id', signal })).value;
  }

  async append(upload: UploadName, offset: number, body: FileBody | Blob, options: AppendUploadOptions = {}): Promise<Upload> {
    const headers = { ...conditionHeaders(options), 'upload-offset': String(offset), 'content-type': UPLOAD_TYPE };
    const { path, query } = address(upload);
    const { body: bytes, failure } = await uploadBody(body);
    try {
      const request = {
        method: 'PATCH',
        path,
        query: { ...query, mode: octal(options.mode) },
        headers,
        body: bytes,
        signal: options.signal,
      };
      const reply = await this.#wire.stream(request);
      reply.close();
      return stateOf(upload, reply.headers);
    } catch (error) {
      const failed = failure();
      throw failed === null ? error : failed.error;
    }
  }

  cancel(upload: UploadName, { signal }: CallOptions = {}): Promise<void> {
    return this.#wire.empty({ method: 'DELETE', ...address(upload), signal });
  }
}

function address({ upload_id, size_bytes, path, path_base64 }: UploadName) {
  return { path: `/fs/uploads/${encodeURIComponent(upload_id)}`, query: { path, path_base64, size_bytes } };
}

function stateOf({ upload_id, size_bytes }: UploadName, headers: Headers): Upload {
  const offset_bytes = Number(headers.get('upload-offset'));
  const expires = headers.get('upload-expires');
  const expires_at = expires === null ? null : new Date(expires).toISOString();
  return { upload_id, size_bytes, offset_bytes, complete: expires_at === null, expires_at };
}
