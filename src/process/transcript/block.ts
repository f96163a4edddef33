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

/** The chunks of a block after `after_seq`, as views. */
export function* chunksOf({ first_seq, marks, bytes }: Block, after_seq: number): Generator<OutputEvent, void, undefined> {
  for (let i = Math.max(0, after_seq + 1 - first_seq); i < marks.length; i++) {
    const start = i === 0 ? 0 : (marks[i - 1] as number) >> 2;
    const mark = marks[i] as number;
    yield { event: 'output', seq: first_seq + i, stream: STREAMS[mark & 3] as Stream, chunk: bytes.subarray(start, mark >> 2) };
  }
}
