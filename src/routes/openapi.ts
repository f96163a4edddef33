import { readFile } from 'node:fs/promises';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { GatewayError } from '../protocol/error.js';
import { NoQuery } from './parameters.js';
import { JSON_TYPE } from './send-parts.js';

/** The spec as built, from the sources and from the build alike. */
const SPEC = new URL('../../dist/openapi.json', import.meta.url);

/** `GET /openapi.json`, read at the first request. */
export function openapiRoute(app: GatewayApp): void {
  let spec: string | undefined;
  app.get('/openapi.json', { schema: { querystring: NoQuery } }, async (_request, reply) => {
    spec ??= await readFile(SPEC, 'utf8').catch(() => undefined);
    if (spec === undefined) throw new GatewayError('not_found', 'This build holds no spec: run "npm run build".');
    return reply.header('content-type', JSON_TYPE).send(spec);
  });
}
