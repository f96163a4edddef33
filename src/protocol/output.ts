import { type Static, Type } from '@sinclair/typebox';
import { exitFields, ProcessInfo, ProcessList } from './process.js';
import { Count, Nullable, Strict, Words } from './schema.js';
import { ProcessId } from './start.js';

/** Where a chunk came from; `pty` is the one stream of a terminal. */
export const Stream = Words(['stdout', 'stderr', 'pty'], { description: 'Where the bytes came from; pty for a terminal.' });
export type Stream = Static<typeof Stream>;

/** How bytes are written in JSON: base64 keeps every byte, utf8 replaces what is not UTF-8. */
export const Encoding = Words(['base64', 'utf8'], { description: 'How bytes are written in JSON. utf8 replaces what is not UTF-8.' });
export type Encoding = Static<typeof Encoding>;

const Seq = Count('The number of the event in this process, from 1, without holes.', { minimum: 1 });

/** What a reader came too late for. Told in-band on every transport, never passed over in silence. */
export const Gap = Strict(
  {
    from_seq: Count('The first event missed.', { minimum: 1 }),
    to_seq: Count('The last event missed.', { minimum: 1 }),
    bytes: Nullable(Count('Output bytes missed; null when the cursor is too old to tell.')),
    reason: Words(['evicted', 'lost'], {
      description: 'evicted: the output was larger than retain_bytes. lost: its host died before it was on disk.',
    }),
  },
  { description: 'Events that are no longer held.' },
);
export type Gap = Static<typeof Gap>;

/** One chunk on the wire. */
export const Chunk = Strict({ seq: Seq, stream: Stream, chunk: Type.String({ description: 'base64, or text with encoding=utf8.' }) });
export type Chunk = Static<typeof Chunk>;

/** Data of `event: exited`. */
export const ExitedData = Strict({
  seq: Seq,
  exit_code: Count('See exit_code of the process.', { maximum: 255 }),
  signal: exitFields.signal,
});
/** Data of `event: closed`. */
export const ClosedData = Strict({ seq: Seq });

/** Answer to a read. Continue with `after_seq = next_seq - 1`. */
export const ReadResult = Strict({
  chunks: Type.Array(Chunk),
  next_seq: Count('Continue with after_seq = next_seq - 1.', { minimum: 1 }),
  exited: Type.Boolean(),
  ...exitFields,
  closed: Type.Boolean({ description: 'Whether everything was told: no event comes after those of this answer.' }),
  gap: Nullable(Gap),
});
export type ReadResult = Static<typeof ReadResult>;

/** One chunk inside the program: bytes as they are. The bytes are never changed afterwards. */
export interface OutputEvent {
  event: 'output';
  seq: number;
  stream: Stream;
  chunk: Uint8Array;
  /** When it was printed, in milliseconds since the start: known of what is read from disk. */
  at_ms?: number;
}
export interface ExitedEvent {
  event: 'exited';
  seq: number;
  exit_code: number;
  signal: string | null;
}
export interface ClosedEvent {
  event: 'closed';
  seq: number;
}
export interface GapEvent extends Gap {
  event: 'gap';
}

/** One event of one process, in the one sequence of that process. */
export type ProcessEvent = OutputEvent | ExitedEvent | ClosedEvent | GapEvent;

/** {@link ReadResult} inside the program: bytes as they are. */
export interface ReadOutput extends Omit<ReadResult, 'chunks'> {
  chunks: OutputEvent[];
}

/** Data of `event: snapshot` on `GET /events`: all processes that match, oldest first. */
export const SnapshotData = Type.Pick(ProcessList, ['processes'], { additionalProperties: false });
/** Data of `event: started | exited | closed` on `GET /events`. */
export const ChangedData = Strict({ process: ProcessInfo });
/** Data of `event: removed` on `GET /events`. */
export const RemovedData = Strict({ process_id: ProcessId });

/**
 * One change in the set of processes, or output of one of them when asked for. `id` numbers the changes; with output it is
 * where a watch can be taken up again, the same for several events.
 */
export type ChangeEvent =
  | { event: 'snapshot'; id: number; processes: ProcessInfo[] }
  | { event: 'started' | 'exited' | 'closed'; id: number; process: ProcessInfo }
  | { event: 'removed'; id: number; process_id: string }
  | { event: 'output'; id: number; process_id: string; seq: number; stream: Stream; chunk: Uint8Array }
  | ({ event: 'gap'; id: number; process_id: string } & Gap);
