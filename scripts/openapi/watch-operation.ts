import { FileChangeFrames } from './frames.js';
import type { Operation } from './operation.js';
import { PATH_ERRORS } from './path-errors.js';

const EXAMPLE = `id: k3v0x9q2m1ab-0
event: ready
data: {"directories":12,"unreadable":0}

id: k3v0x9q2m1ab-1
event: created
data: {"path":"src/new.ts","path_base64":null,"type":"file","error":null}

: keep-alive

id: k3v0x9q2m1ab-2
event: removed
data: {"path":"src/old.ts","path_base64":null,"type":"file","error":null}

`;

/** `GET /fs/watch`. */
export const WATCH_OPERATION: Operation = {
  operationId: 'watchFiles',
  tag: 'Files',
  summary: 'Watch a directory',
  description:
    'Server-sent events. ready comes first: the watch is set, and every change from then on is told. Then created, modified and removed, each as it was found up to 50 ms after the first sign of it, so that what happens to a path in between is one event; modified may be told once more than needed. A rename is a removed and a created; with a removed directory all below it is gone, and what a new directory holds is told entry by entry. overflow says that changes may be missing before it: list the directory again. ended is the last event. A reader that comes back within 60 s goes on after Last-Event-ID or after_id; where that cannot be, it begins with overflow. Changes made through another machine (NFS), to a memory mapping, or by the system (/proc, /sys) are not seen.',
  headers: ['Last-Event-ID-of-a-watch'],
  replies: { 200: { description: 'Events.', content: { 'text/event-stream': { schema: FileChangeFrames, example: EXAMPLE } } } },
  errors: [...PATH_ERRORS, 'invalid_cursor', 'too_many_watches'],
};
