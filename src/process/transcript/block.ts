import type { OutputEvent, Stream } from '../../protocol/index.js';

/** A mark says the stream of its chunk by its place here. */
export const STREAMS: readonly Stream[] = ['stdout', 'stderr', 'pty'];

/** Consecutive chunks, in memory and on disk: their bytes together, and where each ends. */
export interface Block {
  first_seq: number;
  /** One number a chunk: its end in `bytes`, times 4, plus its stream. */
  marks: ArrayLike<number>;
  bytes: Uint8Array;
}

/** Bytes of one stream, or of all, that a block holds before the event `next_seq`. */
export function bytesIn({ first_seq, marks }: Block, next_seq: number, stream?: Stream): number {
  const wanted = stream && STREAMS.indexOf(stream);
  let bytes = 0;
  let start = 0;
  for (let i = 0; i < marks.length && first_seq + i < next_seq; i++) {
    const mark = marks[i] as number;
    if (wanted === undefined || (mark & 3) === wanted) bytes += (mark >> 2) - start;
    start = mark >> 2;
  }
  return bytes;
}

/** The chunks of a block, printed at `at_ms`, after `after_seq`, as views. */
export function* chunksOf({ first_seq, marks, bytes }: Block, after_seq: number, at_ms: number): Generator<OutputEvent, void, undefined> {
  for (let i = Math.max(0, after_seq + 1 - first_seq); i < marks.length; i++) {
    const start = i === 0 ? 0 : (marks[i - 1] as number) >> 2;
    const mark = marks[i] as number;
    yield { event: 'output', seq: first_seq + i, stream: STREAMS[mark & 3] as Stream, chunk: bytes.subarray(start, mark >> 2), at_ms };
  }
}
