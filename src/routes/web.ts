import { Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { GatewayError } from '../protocol/error.js';
import { NoQuery } from './parameters.js';
import { entityTags } from './preconditions.js';
import { type WebFile, webFileLoader } from './web-file.js';

/** The dashboard as it was built: what is served is known before the first request. */
export interface WebFiles {
  /** The path of its page. */
  page: string;
  /** The paths of what the page loads, by name. */
  assets: ReadonlyMap<string, string>;
}

/** The page runs its own scripts and styles, speaks to its own gateway, and stands in no frame; a script that is a worker obeys the same. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

/** The name of a file is one of its content, but for the page itself. */
const FOR_EVER = 'public, max-age=31536000, immutable';

const AssetPath = Type.Object({ file: Type.String({ description: 'The name of the file.' }) });

/** `GET /` for browsers and `GET /assets/{file}`: the dashboard. It holds no secret, and everyone gets it. */
export function webRoutes(app: GatewayApp, files: WebFiles): void {
  const load = webFileLoader();
  app.get('/', { config: { open: asksForPage }, schema: { querystring: NoQuery } }, async (request, reply) => {
    if (!asksForPage(request)) {
      throw new GatewayError(
        'not_found',
        'The dashboard at "/" is for browsers, which accept text/html. GET /openapi.json lists what there is.',
      );
    }
    return send(request, reply, await load(files.page), 'no-cache', 'Accept, Accept-Encoding');
  });
  app.get(
    '/assets/:file',
    { config: { open: () => true }, schema: { params: AssetPath, querystring: NoQuery } },
    async (request, reply) => {
      const path = files.assets.get(request.params.file);
      if (path !== undefined) return send(request, reply, await load(path), FOR_EVER, 'Accept-Encoding');
      throw new GatewayError('not_found', 'The dashboard has no such file: it may be one of another version. Load the page anew.');
    },
  );
}

/** A program that asks without a wish gets what it got where there is no dashboard: a hint of what there is for programs. */
function asksForPage({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? '');
}

function send(request: FastifyRequest, reply: FastifyReply, file: WebFile, cache: string, depends_on: string): FastifyReply {
  const gzip = file.gzip !== null && /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(request.headers['accept-encoding'] ?? '');
  const etag = `"${file.digest}${gzip ? '-gzip' : ''}"`;
  const vary = [reply.getHeader('vary'), depends_on].flat().filter(Boolean).join(', ');
  reply.headers({ ...HEADERS, 'cache-control': cache, etag, vary });
  const known = entityTags('If-None-Match', request.headers['if-none-match']) ?? [];
  if (known === '*' || known.some((tag) => tag.replace(/^W\//, '') === etag)) return reply.code(304).send();
  if (gzip) reply.header('content-encoding', 'gzip');
  return reply.header('content-type', file.type).send(gzip ? file.gzip : file.plain);
}
