import { type Static, Type } from '@sinclair/typebox';
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import { unsupported } from '../plugins/body-parsers.js';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { GatewayError } from '../protocol/error.js';
import { pathFields } from '../protocol/file.js';
import type { ExecutorFileSystem, UploadName } from '../protocol/file-system.js';
import { Count, Strict } from '../protocol/schema.js';
import type { Upload } from '../protocol/upload.js';
import { UPLOAD_TYPE } from '../protocol/upload-type.js';
import { whileCallerStays } from './caller-gone.js';
import { ModeText, modeBits } from './file-parameters.js';
import { entityTags } from './preconditions.js';
import { tooLarge, uploadBody } from './upload-body.js';

const mode = ModeText('Permission bits of the file, in octal. Default: those it has; 666 less the umask for a new one.');
const CreateParameters = Strict({
  ...pathFields,
  mode,
  create_parents: Type.Optional(Type.Boolean({ description: 'Also make the directories above it.', default: false })),
});
const UploadParameters = Strict({
  ...pathFields,
  size_bytes: Count('Bytes the file will have, as announced.'),
  mode,
  if_match: Type.Optional(Type.String({ description: 'The If-Match that the upload began with.' })),
  if_none_match: Type.Optional(Type.String({ description: 'The If-None-Match that the upload began with.' })),
});
type UploadParameters = Static<typeof UploadParameters>;
const UploadPath = Type.Object({ upload_id: Type.String({ description: 'The key of the upload.' }) });

/** The protocol that is spoken: https://tus.io/protocols/resumable-upload. */
const TUS = '1.0.0';

/** `/fs/uploads`: files in parts, as clients of tus 1.0 send them (core, creation, expiration, termination). */
export function fileUploadRoutes(parent: GatewayApp, files: ExecutorFileSystem, max_file_bytes: number | null): void {
  parent.register((app: GatewayApp, _options, done) => {
    addVersionCheck(app);
    addExtensionCheck(app);
    // A part is read as it comes; a creation has no body, whatever type it says.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));

    const config: FastifyContextConfig = { conditions: ['If-Match', 'If-None-Match'] };
    app.post('/fs/uploads', { schema: { querystring: CreateParameters }, config }, async (request, reply) => {
      const { mode, create_parents, ...path } = request.query;
      const size_bytes = length(request);
      checkSize(size_bytes, max_file_bytes);
      const asked = askedConditions(request);
      const options = { mode: modeBits(mode), create_parents, ...conditions(asked) };
      const upload = await whileCallerStays(reply, ({ signal }) => files.createUpload(path, size_bytes, { ...options, signal }));
      const kept = Object.entries({ ...path, size_bytes: String(size_bytes), mode, ...asked });
      const query = new URLSearchParams(kept.filter((field): field is [string, string] => field[1] !== undefined));
      // Relative, so that it holds behind a proxy that puts the gateway below a path.
      return describe(reply, upload).code(201).header('location', `uploads/${upload.upload_id}?${query}`).send(upload);
    });

    const one = { schema: { params: UploadPath, querystring: UploadParameters }, preValidation: refusePart };
    const look = async (name: UploadName, reply: FastifyReply) => {
      const upload = await whileCallerStays(reply, ({ signal }) => files.getUpload(name, { signal }));
      return describe(reply, upload).send(upload);
    };
    app.get('/fs/uploads/:upload_id', one, ({ params, query }, reply) => look(nameOf(params, query), reply));
    app.head('/fs/uploads/:upload_id', one, ({ params, query }, reply) => look(nameOf(params, query), reply));

    const streamed = { ...one, config: { ...config, streams: true }, bodyLimit: Number.MAX_SAFE_INTEGER };
    app.patch('/fs/uploads/:upload_id', streamed, async (request, reply) => {
      const name = nameOf(request.params, request.query);
      checkSize(name.size_bytes, max_file_bytes);
      const type = request.headers['content-type'];
      if (type?.toLowerCase() !== UPLOAD_TYPE) throw unsupported(type, [UPLOAD_TYPE]);
      const offset = header(request, 'Upload-Offset');
      const options = { mode: modeBits(request.query.mode), ...conditions(askedConditions(request) ?? request.query) };
      const body = uploadBody(request.raw, reply.raw, null);
      const upload = await files.appendUpload(name, offset, body, options);
      return describe(reply, upload).code(204).send();
    });

    app.delete('/fs/uploads/:upload_id', one, async ({ params, query }, reply) => {
      await files.cancelUpload(nameOf(params, query));
      return reply.code(204).send();
    });
    done();
  });
}

/** The rest of an upload's address is its query. */
function refusePart({ query }: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  const detail = 'size_bytes is missing: use the whole address that Location gave, with its query.';
  const isWhole = (query as Partial<UploadParameters>).size_bytes !== undefined;
  done(isWhole ? undefined : new GatewayError('invalid_request', detail, { field: 'size_bytes' }));
}

function nameOf({ upload_id }: { upload_id: string }, { path, path_base64, size_bytes }: UploadParameters): UploadName {
  return { upload_id, path, path_base64, size_bytes };
}

function describe(reply: FastifyReply, { size_bytes, offset_bytes, expires_at }: Upload): FastifyReply {
  if (expires_at !== null) reply.header('upload-expires', new Date(expires_at).toUTCString());
  return reply.header('upload-offset', String(offset_bytes)).header('upload-length', String(size_bytes));
}

/** A caller that names no version speaks this one, so that curl needs no more than it has to say. */
function addVersionCheck(app: GatewayApp): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('tus-resumable', TUS);
    const version = request.headers['tus-resumable'];
    if (version === undefined || version === TUS) return done();
    reply.header('tus-version', TUS);
    done(
      new GatewayError('precondition_failed', `Tus-Resumable must be ${TUS}, which is the version spoken here.`, {
        field: 'Tus-Resumable',
      }),
    );
  });
}

/** What extensions of tus that are not spoken ask for: passed over, a piece would stand for the whole file, and broken bytes for checked ones. */
const FOREIGN: Record<string, string> = {
  'Upload-Concat': 'An upload is not put together from others: send the file as one upload (parallelUploads: 1).',
  'Upload-Checksum': 'Checksums are not looked at: leave it out, and compare the file when it is there.',
};

function addExtensionCheck(app: GatewayApp): void {
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    const field = Object.keys(FOREIGN).find((name) => headers[name.toLowerCase()] !== undefined);
    done(field === undefined ? undefined : new GatewayError('invalid_request', `${FOREIGN[field]}`, { field }));
  });
}

function length(request: FastifyRequest): number {
  if (request.headers['upload-defer-length'] === undefined) return header(request, 'Upload-Length');
  const detail = 'The length of an upload has to be known: send Upload-Length, or the file whole with PUT /fs/file.';
  throw new GatewayError('invalid_request', detail, { field: 'Upload-Defer-Length' });
}

function header({ headers }: FastifyRequest, field: string): number {
  const text = headers[field.toLowerCase()];
  const number = typeof text === 'string' && /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  const got = text === undefined ? 'nothing' : JSON.stringify(String(text).slice(0, 60));
  throw new GatewayError('invalid_request', `${field} must be a number of bytes in decimal digits; got ${got}.`, { field });
}

/** Conditions as they were written. */
type AskedConditions = { if_match?: string | undefined; if_none_match?: string | undefined };

/** The conditions that a request brings, which stand for all of those that the upload began with; undefined when it brings none. */
function askedConditions({ headers }: FastifyRequest): AskedConditions | undefined {
  const { 'if-match': if_match, 'if-none-match': if_none_match } = headers;
  return if_match === undefined && if_none_match === undefined ? undefined : { if_match, if_none_match };
}

function conditions({ if_match, if_none_match }: AskedConditions = {}) {
  return { if_match: entityTags('If-Match', if_match), if_none_match: entityTags('If-None-Match', if_none_match) };
}

function checkSize(size_bytes: number, max_file_bytes: number | null): void {
  if (max_file_bytes !== null && size_bytes > max_file_bytes) throw tooLarge(max_file_bytes);
}
