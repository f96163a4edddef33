import { Type } from '@sinclair/typebox';
import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import { GatewayError } from '../protocol/error.js';
import { pathFields } from '../protocol/file.js';
import type { ExecutorFileSystem } from '../protocol/file-system.js';
import type { FileChange } from '../protocol/file-watch.js';
import { Strict } from '../protocol/schema.js';
import { SSE_HEARTBEAT, SSE_TYPE, sseText } from '../protocol/sse.js';
import { liveReply } from './live-reply.js';

const WatchParameters = Strict({
  ...pathFields,
  recursive: Type.Optional(
    Type.Boolean({ description: 'Also what is below the directories in it. Links are not entered.', default: false }),
  ),
  after_id: Type.Optional(
    Type.String({ description: 'The id of the last event seen. What cannot be resumed begins with overflow. Default: from now on.' }),
  ),
});

/** `GET /fs/watch`. */
export function fileWatchRoute(app: GatewayApp, files: ExecutorFileSystem, { streamsEnd }: Probes, heartbeat_ms: number): void {
  app.get('/fs/watch', { schema: { querystring: WatchParameters } }, (request, reply) => {
    const { recursive, after_id, ...path } = request.query;
    const options = { recursive, after_id: lastEventId(request.headers['last-event-id']) ?? after_id };
    return liveReply(
      reply,
      streamsEnd,
      (signal) => files.watch(path, { ...options, signal }),
      () => ({
        headers: { 'content-type': SSE_TYPE },
        encode: (changes: FileChange[]) => Buffer.from(changes.map(changeText).join('')),
        complete: () => true,
        heartbeat: { ms: heartbeat_ms, text: SSE_HEARTBEAT },
      }),
    );
  });
}

/** A browser that reconnects repeats the old address: what it saw last wins. An empty one says that it saw nothing. */
function lastEventId(header: string | string[] | undefined): string | undefined {
  if (!Array.isArray(header)) return header || undefined;
  throw new GatewayError('invalid_cursor', 'Last-Event-ID is given several times: give it once.', { field: 'Last-Event-ID' });
}

function changeText({ event, id, ...data }: FileChange): string {
  return sseText({ event, id, data: JSON.stringify(data) });
}
