import { createHash } from 'node:crypto';
import { type CallOptions, GatewayError, type TranscriptAbout, type TranscriptContent, type TranscriptQuery } from '../protocol/index.js';
import { asciicast, type Recorded } from './asciicast.js';
import type { HostedProcess } from './hosted-process.js';
import { keptBytes } from './kept-bytes.js';
import { type KeptOutput, keptOutput } from './kept-output.js';
import { DEFAULT_TERM } from './launch-spec.js';
import type { TerminalHistory } from './terminal-history.js';

/**
 * The kept output of a process as a file.
 * @throws {GatewayError} `invalid_cursor`, `cursor_ahead`, `not_a_tty`, `invalid_request`, `precondition_failed`, `range_not_satisfiable`,
 *   `resource_exhausted`
 */
export async function transcriptOf(process: HostedProcess, query: TranscriptQuery, options: CallOptions): Promise<TranscriptContent> {
  const { stream, before_seq = process.log.next_seq } = query;
  checkBeforeSeq(process, before_seq);
  const cast = query.format === 'asciicast';
  if (cast) checkCast(process, query);
  const kept = await keptOutput(process.log, before_seq, stream);
  const about = aboutOf(process, kept, cast);
  if (query.if_match !== undefined && query.if_match !== about.etag) throw changed(process, about);
  const readOn = (after_seq: number) => process.follow({ after_seq }, { signal: options.signal, lend: true });
  if (cast) return { about, length: null, body: query.length === 0 ? NOTHING : asciicast(kept, recordedOf(process), readOn), close };
  const { offset, length } = partOf(process, query, kept.size_bytes);
  return { about, length, body: keptBytes(kept, { offset, length }, readOn), close };
}

const NOTHING: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };

/** A body that nobody began to read holds nothing. */
const close = async () => {};

function aboutOf({ log, process_id, created_at }: HostedProcess, { stream, gaps, next_seq, size_bytes }: KeptOutput, cast: boolean) {
  const about = { next_seq, closed: log.closed_seq !== null && next_seq > log.closed_seq, gaps };
  if (cast) return { ...about, etag: null, size_bytes: null } satisfies TranscriptAbout;
  // What is kept of the same events of the same process is always the same bytes.
  const identity = [
    process_id,
    created_at.getTime(),
    stream ?? null,
    next_seq,
    size_bytes,
    gaps.map(({ from_seq, to_seq }) => [from_seq, to_seq]),
  ];
  const etag = `"${createHash('sha256').update(JSON.stringify(identity)).digest('base64url').slice(0, 22)}"`;
  return { ...about, etag, size_bytes } satisfies TranscriptAbout;
}

function partOf({ process_id }: HostedProcess, { offset = 0, length }: TranscriptQuery, size_bytes: number) {
  if (offset > 0 && offset >= size_bytes) {
    const detail = `The transcript has ${size_bytes} bytes: none of them is at ${offset}.`;
    throw new GatewayError('range_not_satisfiable', detail, { process_id, size_bytes });
  }
  return { offset, length: Math.min(length ?? size_bytes, size_bytes - offset) };
}

function recordedOf(process: HostedProcess): Recorded {
  const { env, env_policy, tty } = process.request;
  const term = env?.TERM ?? env_policy?.set?.TERM ?? (typeof tty === 'object' ? tty.term : undefined) ?? DEFAULT_TERM;
  const { started_at, created_at } = process.info();
  return { history: process.terminal as TerminalHistory, started_at: new Date(started_at ?? created_at), term };
}

function checkBeforeSeq({ process_id, log: { next_seq } }: HostedProcess, before_seq: number): void {
  if (!Number.isSafeInteger(before_seq) || before_seq < 1) {
    const detail = `before_seq ${before_seq} is not the number of an event: give next_seq of an earlier answer.`;
    throw new GatewayError('invalid_cursor', detail, { field: 'before_seq' });
  }
  if (before_seq <= next_seq) return;
  const detail = `before_seq ${before_seq} is in the future: the last event so far is ${next_seq - 1}. Leave it out to get all there is.`;
  throw new GatewayError('cursor_ahead', detail, { field: 'before_seq', next_seq, process_id });
}

function checkCast({ process_id, tty }: HostedProcess, { stream = 'pty' }: TranscriptQuery): void {
  if (tty === null) {
    throw new GatewayError('not_a_tty', 'Only what a terminal showed can be a recording: start the process with tty.', { process_id });
  }
  if (stream === 'pty') return;
  throw new GatewayError('invalid_request', `A recording is of the stream pty, not of ${stream}: leave stream out.`, { field: 'stream' });
}

function changed({ process_id }: HostedProcess, { etag }: TranscriptAbout): GatewayError {
  const detail = 'The transcript is not what If-Match asks for: look at it again.';
  return new GatewayError('precondition_failed', detail, { process_id, ...(etag === null ? {} : { etag }) });
}
