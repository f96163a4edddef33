import { GatewayError } from '../protocol/error.js';
import type { Gap } from '../protocol/output.js';
import type { TranscriptAbout, TranscriptContent, TranscriptQuery } from '../protocol/transcript.js';
import { type Part, RemoteBytes } from './remote-bytes.js';
import type { Wire, WireStream } from './wire.js';

/** Asks for a transcript. @param path where it is */
export async function remoteTranscript(
  wire: Wire,
  path: string,
  { offset = 0, length, if_match, ...query }: TranscriptQuery,
  signal?: AbortSignal,
): Promise<TranscriptContent> {
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  const ranged = query.format !== 'asciicast' && length !== 0 && (offset > 0 || length !== undefined);
  if (ranged) headers.range = `bytes=${offset}-${length === undefined ? '' : offset + length - 1}`;
  if (if_match !== undefined) headers['if-match'] = if_match;
  const method = length === 0 ? 'HEAD' : 'GET';
  const stream = await wire.stream({ method, path, query: { ...query }, headers, signal });
  return new RemoteTranscript(stream, { offset: ranged ? offset : 0, length: length ?? null });
}

/** The transcript of a process behind a gateway. */
class RemoteTranscript extends RemoteBytes implements TranscriptContent {
  readonly about: TranscriptAbout;

  /** @throws {GatewayError} `upstream_unreachable` for an answer that no gateway gives */
  constructor(stream: WireStream, part: Part) {
    super(stream, part);
    this.about = aboutOf(stream);
  }
}

function aboutOf({ status, headers, close }: WireStream): TranscriptAbout {
  const next_seq = Number(headers.get('exec-next-seq'));
  const etag = headers.get('etag');
  const size = status === 206 ? headers.get('content-range')?.split('/')[1] : headers.get('content-length');
  try {
    if (!(next_seq > 0)) throw new Error('no number of an event');
    // A list of objects, as several lines of one header are (RFC 9110 §5.3).
    const gaps = JSON.parse(`[${headers.get('exec-gap') ?? ''}]`) as Gap[];
    const size_bytes = etag === null || size == null ? null : Number(size);
    return { etag, size_bytes, next_seq, closed: headers.get('exec-closed') === 'true', gaps };
  } catch (cause) {
    close();
    const detail = 'The answer has no Exec-Next-Seq header: something on the way dropped it, or it is not from a gateway.';
    throw new GatewayError('upstream_unreachable', detail, {}, { cause });
  }
}
