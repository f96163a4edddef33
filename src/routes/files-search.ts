import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import { pathFields } from '../protocol/file.js';
import type { ExecutorFileSystem } from '../protocol/file-system.js';
import { Strict } from '../protocol/schema.js';
import { NDJSON_TYPE, type SearchLine, searchFields } from '../protocol/search.js';
import { liveReply } from './live-reply.js';

const SearchParameters = Strict({ ...pathFields, ...searchFields });

/** `GET /fs/search`. */
export function fileSearchRoute(app: GatewayApp, files: ExecutorFileSystem, { streamsEnd }: Probes): void {
  app.get('/fs/search', { schema: { querystring: SearchParameters } }, ({ query: { path, path_base64, ...query } }, reply) =>
    liveReply(
      reply,
      streamsEnd,
      (signal) => files.search({ path, path_base64 }, query, { signal }),
      () => ({
        headers: { 'content-type': `${NDJSON_TYPE}; charset=utf-8` },
        encode: (lines: SearchLine[]) => Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
        // Its last line says whether it is whole.
        complete: () => true,
      }),
    ),
  );
}
