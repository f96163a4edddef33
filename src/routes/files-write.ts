import { Type } from '@sinclair/typebox';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { GatewayError } from '../protocol/error.js';
import { pathFields } from '../protocol/file.js';
import type { ExecutorFileSystem, FilePath } from '../protocol/file-system.js';
import { Strict } from '../protocol/schema.js';
import { ModeText, modeBits } from './file-parameters.js';
import { type EntityTags, entityTags, httpDate } from './preconditions.js';
import { uploadBody } from './upload-body.js';

const WriteFileParameters = Strict({
  ...pathFields,
  mode: ModeText('Permission bits of the file, in octal. Default: those it has; 666 less the umask for a new one.'),
  create_parents: Type.Optional(Type.Boolean({ description: 'Also make the directories above it.', default: false })),
});

/** `PUT /fs/file`. */
export function fileWriteRoute(parent: GatewayApp, files: ExecutorFileSystem, max_file_bytes: number | null): void {
  parent.register((app: GatewayApp, _options, done) => {
    // Any type, or none as of "curl -T", or what is no type at all: the method alone makes a page ask first.
    app.addHook('onRequest', ({ raw }, _reply, next) => {
      delete raw.headers['content-type'];
      next();
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    const config: FastifyContextConfig = { streams: true, conditions: ['If-Match', 'If-None-Match', 'If-Unmodified-Since'] };
    const options = { schema: { querystring: WriteFileParameters }, config, bodyLimit: Number.MAX_SAFE_INTEGER };
    app.put('/fs/file', options, async (request, reply) => {
      const { mode, create_parents, ...path } = request.query;
      refuseForm(request);
      const conditions = await writeConditions(request, files, path);
      const body = uploadBody(request.raw, reply.raw, max_file_bytes);
      const { created, metadata } = await files.writeFile(path, body, { mode: modeBits(mode), create_parents, ...conditions });
      if (metadata.etag !== null) reply.header('etag', metadata.etag);
      return reply.code(created ? 201 : 200).send({ created, metadata });
    });
    done();
  });
}

/** Refuses what would be stored as something other than what was meant. */
function refuseForm({ headers }: FastifyRequest): void {
  if (headers['content-range'] !== undefined) {
    const detail = 'A PUT replaces the whole file; with Content-Range it would be cut to a part: leave the header out.';
    throw new GatewayError('invalid_request', detail, { field: 'Content-Range' });
  }
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  const detail = 'The body is stored as it is, and nothing is decoded: send it without Content-Encoding.';
  throw new GatewayError('unsupported_media_type', detail, { field: 'Content-Encoding', allowed: ['identity'] });
}

/** The conditions of a write. One by date becomes one by the entity tag that the file has now, which no change slips by. */
async function writeConditions({ headers }: FastifyRequest, files: ExecutorFileSystem, path: FilePath) {
  const if_match: EntityTags | undefined = entityTags('If-Match', headers['if-match']);
  const if_none_match = entityTags('If-None-Match', headers['if-none-match']);
  const since = httpDate(headers['if-unmodified-since'], Number.NaN);
  if (if_match !== undefined || Number.isNaN(since)) return { if_match, if_none_match };
  const { etag, modified_at } = await files.getMetadata(path, { follow_symlinks: true });
  if (etag !== null && Date.parse(modified_at) < since + 1000) return { if_match: [etag], if_none_match };
  throw new GatewayError('precondition_failed', 'The file has changed since If-Unmodified-Since: look at it again.', {
    field: 'If-Unmodified-Since',
    ...(etag === null ? {} : { etag }),
  });
}
