import type { OutputEvent, Stream } from '../protocol/index.js';
import { type Block, STREAMS } from './transcript/block.js';

/** Sizes of the buffers that chunks share, in bytes. Larger ones are slower: they come from the system afresh each time. */
const SMALLEST_SLAB = 1024;
const LARGEST_SLAB = 64 * 1024;

/** Buffers that wait to be filled again. */
const MOST_SPARES = 4;

/** Chunks of one block: its table stays as small as its bytes. */
const BLOCK_CHUNKS = 16_384;

/** Consecutive chunks that lie in one buffer. */
interface Segment {
  first_seq: number;
  buffer: Uint8Array;
  used: number;
  /** One number a chunk: its end in the buffer, times 4, plus its stream. */
  marks: number[];
  /** Whether a reader was given a view of it, to keep. */
  kept: boolean;
}

/**
 * The chunks held for a process, oldest first, copied together into large buffers: a chunk costs 8 bytes beside its own, so
 * a program that writes byte by byte is as cheap to keep as one that writes blocks. Readers get views. Bytes that a
 * reader was given to keep are never changed; another buffer is filled again once nobody uses it, so that it makes no garbage.
 */
export class SegmentList {
  readonly #largest: number;
  readonly #lent: (first_seq: number, last_seq: number) => boolean;
  #segments: Segment[] = [];
  #head = 0;
  /** Chunks of the first segment that are gone already. */
  #skip = 0;
  #open = false;
  #spares: Uint8Array[] = [];
  count = 0;

  /**
   * @param retain_bytes what will be held, in bytes: a quarter of it is the most that one buffer takes, or one chunk
   * @param lent whether a reader still uses one of these chunks
   */
  constructor(retain_bytes: number, lent: (first_seq: number, last_seq: number) => boolean = () => false) {
    this.#lent = lent;
    this.#largest = Math.min(LARGEST_SLAB, Math.max(SMALLEST_SLAB, retain_bytes / 4));
  }

  /** Seq of the oldest chunk, or null when there is none. */
  get first_seq(): number | null {
    const first = this.#segments[this.#head];
    return first ? first.first_seq + this.#skip : null;
  }

  /** Takes a copy of a chunk. */
  append(seq: number, stream: Stream, chunk: Uint8Array): void {
    const last = this.#open ? (this.#segments.at(-1) as Segment) : null;
    const fits = last !== null && last.buffer.length - last.used >= chunk.length;
    const segment = fits ? last : this.#add(seq, this.#buffer(chunk.length, last?.buffer.length ?? 0));
    segment.buffer.set(chunk, segment.used);
    segment.used += chunk.length;
    segment.marks.push(segment.used * 4 + STREAMS.indexOf(stream));
    this.count++;
  }

  /** The next chunk does not follow on the last one. */
  seal(): void {
    this.#open = false;
  }

  /** Drops the oldest chunk; returns its size in bytes. */
  shift(): number {
    const first = this.#segments[this.#head] as Segment;
    const size = end(first, this.#skip) - end(first, this.#skip - 1);
    this.#skip++;
    this.count--;
    if (this.#skip === first.marks.length) this.#dropFirst(first);
    return size;
  }

  /** How many bytes are held after `seq`. */
  bytesAfter(seq: number): number {
    let bytes = 0;
    for (let at = this.#find(seq + 1); at < this.#segments.length; at++) {
      const segment = this.#segments[at] as Segment;
      const skip = at === this.#head ? this.#skip : 0;
      const first = Math.min(Math.max(skip, seq + 1 - segment.first_seq), segment.marks.length);
      bytes += segment.used - end(segment, first - 1);
    }
    return bytes;
  }

  /** The chunks after `seq`, oldest first; to `keep`, or for as long as they are `lent`. */
  *after(seq: number, keep = true): Generator<OutputEvent, void, undefined> {
    let at = this.#find(seq + 1);
    for (let segment = this.#segments[at]; segment; segment = this.#segments[++at]) {
      const skip = at === this.#head ? this.#skip : 0;
      for (let i = Math.max(skip, seq + 1 - segment.first_seq); i < segment.marks.length; i++) {
        segment.kept ||= keep;
        yield event(segment, i);
      }
    }
  }

  /** The chunks after `seq` as they lie together, oldest first. Their bytes are good until they are dropped. */
  *blocks(seq: number): Generator<Block, void, undefined> {
    let at = this.#find(seq + 1);
    for (let segment = this.#segments[at]; segment; segment = this.#segments[++at]) {
      const skip = at === this.#head ? this.#skip : 0;
      for (let i = Math.max(skip, seq + 1 - segment.first_seq); i < segment.marks.length; i += BLOCK_CHUNKS) {
        const start = end(segment, i - 1);
        const marks = segment.marks.slice(i, i + BLOCK_CHUNKS);
        const bytes = segment.buffer.subarray(start, (marks.at(-1) as number) >> 2);
        yield { first_seq: segment.first_seq + i, marks: start === 0 ? marks : marks.map((mark) => mark - start * 4), bytes };
      }
    }
  }

  /** Index of the last segment that starts at or before `seq`, or the first one. */
  #find(seq: number): number {
    let low = this.#head;
    let high = this.#segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#segments[middle] as Segment).first_seq <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Buffers grow with the output, so that little output costs little; a chunk that would waste much of one has its own. */
  #buffer(needed: number, last_size: number): Uint8Array {
    const spare = this.#spares.findLastIndex(({ length }) => length >= needed);
    if (spare >= 0) return this.#spares.splice(spare, 1)[0] as Uint8Array;
    const shared = Math.min(this.#largest, Math.max(SMALLEST_SLAB, last_size * 2));
    return Buffer.allocUnsafeSlow(needed > this.#largest / 2 ? needed : Math.max(needed, shared));
  }

  #add(first_seq: number, buffer: Uint8Array): Segment {
    const segment = { first_seq, buffer, used: 0, marks: [], kept: false };
    this.#segments.push(segment);
    this.#open = true;
    return segment;
  }

  #dropFirst(first: Segment): void {
    if (!first.kept && !this.#lent(first.first_seq, first.first_seq + first.marks.length - 1)) this.#spares.push(first.buffer);
    if (this.#spares.length > MOST_SPARES) this.#spares.shift();
    this.#segments[this.#head++] = undefined as unknown as Segment;
    this.#skip = 0;
    if (this.#head === this.#segments.length) this.#open = false;
    if (this.#head < 64 || this.#head * 2 < this.#segments.length) return;
    this.#segments = this.#segments.slice(this.#head);
    this.#head = 0;
  }
}

function end(segment: Segment, index: number): number {
  return index < 0 ? 0 : (segment.marks[index] as number) >> 2;
}

function event(segment: Segment, index: number): OutputEvent {
  return {
    event: 'output',
    seq: segment.first_seq + index,
    stream: STREAMS[(segment.marks[index] as number) & 3] as Stream,
    chunk: segment.buffer.subarray(end(segment, index - 1), end(segment, index)),
  };
}
