import type { ExecProcess } from '../protocol/exec-process.js';
import type { TranscriptQuery } from '../protocol/transcript.js';
import { type BytePlace, lastingBytes } from './lasting-bytes.js';
import type { RetryOptions } from './retry.js';

/** A transcript over as many connections as it takes: each goes on with what the first one was of. */
export function transcriptBytes(
  processes: ExecProcess,
  process_id: string,
  query: TranscriptQuery,
  place: BytePlace,
  retry: Required<RetryOptions>,
): AsyncGenerator<Uint8Array, void> {
  let before_seq = query.before_seq;
  const open = async ({ signal, ...part }: BytePlace) => {
    const { about, body } = await processes.transcript(process_id, { ...query, ...part, before_seq }, { signal });
    before_seq = about.next_seq;
    return { etag: about.etag, body };
  };
  return lastingBytes(open, place, retry, query.format !== 'asciicast');
}
