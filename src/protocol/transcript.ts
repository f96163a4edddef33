import type { Gap, Stream } from './output.js';
import { Words } from './schema.js';

/** How a transcript is written: the bytes as they were printed, or as a recording of a terminal. */
export const TranscriptFormat = Words(['raw', 'asciicast'], {
  description: 'raw: the bytes as they were printed. asciicast: a recording of a terminal, which asciinema plays. Default: as Accept says.',
});
export type TranscriptFormat = 'raw' | 'asciicast';

/** The media type of a recording, https://docs.asciinema.org/manual/asciicast/v2/. */
export const ASCIICAST_TYPE = 'application/x-asciicast';

export interface TranscriptQuery {
  /** Only this stream. Default all, in the order in which they came. */
  stream?: Stream | undefined;
  /** Default raw. */
  format?: TranscriptFormat | undefined;
  /** Only what came before this event: `next_seq` of an earlier answer gives the same transcript again. Default: all there is now. */
  before_seq?: number | undefined;
  /** First byte, of raw bytes. Default 0. At or beyond the end: `range_not_satisfiable`, with `size_bytes`. */
  offset?: number | undefined;
  /** Raw bytes at most; 0 tells about the transcript alone. Default: to the end. */
  length?: number | undefined;
  /** Give only the transcript that has this etag, else `precondition_failed`. */
  if_match?: string | undefined;
}

/** What is known of a transcript before its first byte. */
export interface TranscriptAbout {
  /** The same for the same bytes; null for a recording. */
  etag: string | null;
  /** All of it; null for a recording. */
  size_bytes: number | null;
  /** It holds what came before this event. */
  next_seq: number;
  /** Whether nothing will come any more. */
  closed: boolean;
  /** What is missing in it, the earliest first. */
  gaps: Gap[];
}

/** The kept output of a process at one moment, read as it is iterated. */
export interface TranscriptContent {
  readonly about: TranscriptAbout;
  /** Bytes that will come; null for a recording. */
  readonly length: number | null;
  /** To be iterated once. A block may be overwritten when the next is asked for. What cannot be given whole ends with an error. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Lets it go; to be called unless the body was read to its end. */
  close(): Promise<void>;
}
