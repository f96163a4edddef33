import { type TSchema, Type } from '@sinclair/typebox';
import { FileChangeData, WATCH_ID, WatchEndedData, WatchOverflowData, WatchReadyData } from '../../src/protocol/file-watch.js';
import { ChangedData, Chunk, ClosedData, ExitedData, Gap, RemovedData, SnapshotData } from '../../src/protocol/output.js';
import { ProcessId } from '../../src/protocol/start.js';

function frame(event: string, data: TSchema, id: TSchema = Type.Integer({ minimum: 0 })): TSchema {
  return Type.Object({ id, event: Type.Literal(event), data }, { additionalProperties: false });
}

function frames(...events: TSchema[]): TSchema {
  return Type.String({ contentMediaType: 'text/event-stream', contentSchema: Type.Array(Type.Union(events)) });
}

/** One process and an event of it. */
const OfProcess = (data: TSchema) => Type.Object({ process_id: ProcessId, ...data.properties }, { additionalProperties: false });

/** The text of `GET /processes/{process_id}/events`, and what its events are when parsed. */
export const EventFrames = frames(frame('output', Chunk), frame('exited', ExitedData), frame('closed', ClosedData), frame('gap', Gap));

/** The text of `GET /events`, and what its events are when parsed. */
export const ChangeFrames = frames(
  frame('snapshot', SnapshotData),
  frame('started', ChangedData),
  frame('exited', ChangedData),
  frame('closed', ChangedData),
  frame('removed', RemovedData),
  frame('output', OfProcess(Chunk)),
  frame('gap', OfProcess(Gap)),
);

const WatchId = Type.String({ pattern: WATCH_ID });

/** The text of `GET /fs/watch`, and what its events are when parsed. */
export const FileChangeFrames = frames(
  frame('ready', WatchReadyData, WatchId),
  frame('created', FileChangeData, WatchId),
  frame('modified', FileChangeData, WatchId),
  frame('removed', FileChangeData, WatchId),
  frame('overflow', WatchOverflowData, WatchId),
  frame('ended', WatchEndedData, WatchId),
);
