import type { FastifyRequest } from 'fastify';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { type ArchiveEncoding, archiveFields, packFields } from '../protocol/archive.js';
import { GatewayError } from '../protocol/error.js';
import { pathFields } from '../protocol/file.js';
import type { ExecutorFileSystem } from '../protocol/file-system.js';
import { Strict } from '../protocol/schema.js';
import { begun } from './begun.js';
import { whileCallerStays } from './caller-gone.js';
import { attachment, lastName } from './file-headers.js';
import { sendContent } from './file-reply.js';
import { ENCODINGS, packed, preferredEncoding } from './packed.js';
import { uploadBody } from './upload-body.js';

const ReadParameters = Strict({ ...pathFields, ...packFields });
const WriteParameters = Strict({ ...pathFields, ...archiveFields });

const NAMES: Record<string, ArchiveEncoding | undefined> = { gzip: 'gzip', 'x-gzip': 'gzip', zstd: 'zstd' };

/** `GET` and `PUT /fs/archive`. */
export function fileArchiveRoutes(parent: GatewayApp, files: ExecutorFileSystem, max_file_bytes: number | null): void {
  parent.get('/fs/archive', { schema: { querystring: ReadParameters } }, ({ query: { skip_unreadable, ...path }, headers }, reply) =>
    whileCallerStays(reply, async ({ signal }) => {
      const encoding = preferredEncoding(headers['accept-encoding']);
      const tar = await begun(await files.readArchive(path, { skip_unreadable, signal }));
      const reply_headers = {
        'content-type': 'application/x-tar',
        'content-disposition': attachment(`${lastName(path).replace(/^\.+/, '') || 'archive'}.tar`),
        'cache-control': 'private, no-cache, no-transform',
        vary: [reply.getHeader('vary'), 'Accept-Encoding'].flat().filter(Boolean).join(', '),
        ...(encoding === null ? {} : { 'content-encoding': encoding }),
      };
      const body = encoding === null ? tar : packed(tar, encoding);
      return await sendContent(reply, { status: 200, headers: reply_headers, body }, signal);
    }),
  );

  parent.register((app: GatewayApp, _options, done) => {
    // Any type, or none as of "curl -T": the method alone makes a page ask first.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    const options = { schema: { querystring: WriteParameters }, config: { streams: true }, bodyLimit: Number.MAX_SAFE_INTEGER };
    app.put('/fs/archive', options, async (request, reply) => {
      const { create_parents, any_links, ...path } = request.query;
      const encoding = bodyEncoding(request);
      const body = uploadBody(request.raw, reply.raw, max_file_bytes);
      return await files.writeArchive(path, body, { create_parents, any_links, encoding });
    });
    done();
  });
}

function bodyEncoding({ headers }: FastifyRequest): ArchiveEncoding | undefined {
  const given = headers['content-encoding']?.trim().toLowerCase();
  if (given === undefined || given === 'identity' || given === '') return undefined;
  const encoding = NAMES[given];
  if (encoding !== undefined && ENCODINGS.includes(encoding)) return encoding;
  const allowed = [...ENCODINGS, 'identity'];
  const detail = `The tar came with Content-Encoding ${JSON.stringify(given.slice(0, 60))}: send it as one of ${allowed.join(', ')}.`;
  throw new GatewayError('unsupported_media_type', detail, { field: 'Content-Encoding', allowed });
}
